"""To-do items of a user. Higher layers register further sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from django.db.models import (
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Window,
)
from django.db.models.functions import Coalesce

from studio.models import (
    Assignment,
    Benchmark,
    Import,
    Review,
    Revision,
    Task,
    TaskState,
    User,
)

SHOWN = 6
"""Items of a kind on Home."""
MAX_ITEMS = 200
"""Items of a kind on its full list."""
ITEM_FIELDS = (
    *("task_id", "title", "state", "episode__persona__name", "episode__persona__user_id"),
    *("episode__persona__benchmark__name", "episode__persona__benchmark__slug"),
)


@dataclass(frozen=True)
class TodoItem:
    title: str
    address: str
    location: str = ""
    """Benchmark and persona."""
    state: str = ""
    """A key of ``studio.models.statuses``."""
    note: str = ""


@dataclass(frozen=True)
class TodoGroup:
    """To-do items of one kind, the most urgent first."""

    key: str
    title: str
    items: tuple[TodoItem, ...] = field(default=())
    count: int = 0
    """Including those not in ``items``."""

    @property
    def more(self) -> int:
        return self.count - len(self.items)


TodoSource = Callable[[User, QuerySet[Benchmark], int], list[TodoGroup]]
"""To-do items of the user in these benchmarks, at most ``limit`` of a kind, in a constant number of queries."""

_sources: dict[str, TodoSource] = {}


def register(name: str, source: TodoSource) -> None:
    _sources[name] = source


def todo_of(user: User, benchmarks: QuerySet[Benchmark], *, limit: int = SHOWN) -> list[TodoGroup]:
    groups = [
        _group("sent-back", "Changes requested", tasks_sent_back(user, benchmarks), limit),
        _group("reviews", "To review", tasks_to_review(user, benchmarks), limit),
        _publications(user, benchmarks, limit),
        *(group for source in _sources.values() for group in source(user, benchmarks, limit)),
        _group("drafts", "Your drafts", drafts_to_write(user, benchmarks).exclude(state="changes_requested"), limit),
    ]
    return [group for group in groups if group.count]


def _group(key: str, title: str, tasks: QuerySet[Task], limit: int) -> TodoGroup:
    rows = list(tasks.only(*ITEM_FIELDS).annotate(n_total=Window(Count("pk")))[:limit])
    return TodoGroup(key, title, tuple(_item(task) for task in rows), rows[0].n_total if rows else 0)


def _publications(user: User, benchmarks: QuerySet[Benchmark], limit: int) -> TodoGroup:
    """Imports whose tasks another owner says were approved elsewhere, for this owner to confirm."""
    own = benchmarks.filter(memberships__user=user, memberships__role="owner")
    rows = Import.objects.filter(benchmark__in=own, publication="requested").exclude(by=user)
    shown = list(
        rows.select_related("benchmark", "by")
        .defer("upload", "report")
        .order_by("created_at")
        .annotate(n_total=Window(Count("pk")))[:limit]
    )
    items = [
        TodoItem(str(row), row.get_absolute_url(), str(row.benchmark), row.publication, f"asked by {row.by}")
        for row in shown
    ]
    return TodoGroup("publications", "Imports to confirm", tuple(items), shown[0].n_total if shown else 0)


def _item(task: Task) -> TodoItem:
    persona = task.episode.persona
    note = "assigned to you" if getattr(task, "is_assigned", False) else ""
    return TodoItem(str(task), task.get_absolute_url(), f"{persona.benchmark} · {persona}", task.state, note)


def drafts_to_write(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Drafts and returned tasks that are assigned to the user, or that they wrote last and nobody is assigned to:
    assigned ones first, then by age."""
    newest = Revision.objects.filter(task=OuterRef("pk"), number=OuterRef("version"), created_by=user)
    return (
        _tasks(benchmarks)
        .annotate(is_assigned=Exists(_assigned("writer").filter(user=user)))
        .filter(Q(is_assigned=True) | (Exists(newest) & ~Exists(_assigned("writer"))))
        .filter(state__in=[TaskState.DRAFT, TaskState.CHANGES_REQUESTED])
        .order_by("-is_assigned", "-state", "-updated_at")
    )  # fmt: skip


def tasks_sent_back(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks with requested changes that the user is assigned to or contributed to; assigned ones first."""
    authored = Revision.objects.filter(task=OuterRef("pk"), created_by=user)
    return (
        _tasks(benchmarks)
        .annotate(is_assigned=Exists(_assigned("writer").filter(user=user)))
        .filter(Q(is_assigned=True) | Exists(authored), state=TaskState.CHANGES_REQUESTED)
        .order_by("-is_assigned", "-updated_at")
    )


def tasks_to_review(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks in review that the user may review, did not write last and has not approved yet: first those assigned to
    them, then those with fewer reviewers than required approvals."""
    newest = Revision.objects.filter(task=OuterRef("pk"), number=OuterRef("version"))
    authored = newest.filter(Q(created_by=user) | Q(origin_authors=user))
    approved = Review.objects.filter(
        revision__task=OuterRef("pk"), revision__number=OuterRef("version"), reviewer=user, decision="approved"
    )
    reviewing = benchmarks.filter(memberships__user=user, memberships__role__in=["owner", "reviewer"])
    reviewer_counts = _assigned("reviewer").order_by().values("task").annotate(n=Count("pk")).values("n")
    return (
        _tasks(reviewing)
        .annotate(
            is_assigned=Exists(_assigned("reviewer").filter(user=user)),
            n_reviewers=Coalesce(Subquery(reviewer_counts, output_field=IntegerField()), 0),
        )
        .filter(Q(is_assigned=True) | Q(n_reviewers__lt=F("episode__persona__benchmark__approvals_needed")))
        .filter(~Exists(authored), ~Exists(approved), state=TaskState.IN_REVIEW)
        .order_by("-is_assigned", "updated_at")
    )


def _assigned(part: str) -> QuerySet[Assignment]:
    return Assignment.objects.filter(task=OuterRef("pk"), part=part)


def _tasks(benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    return Task.objects.filter(episode__persona__benchmark__in=benchmarks).select_related("episode__persona__benchmark")
