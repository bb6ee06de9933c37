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
    Review,
    Revision,
    Task,
    TaskState,
    User,
)

SHOWN = 6
"""Of one kind; the others are counted."""
ALL = 200
"""Of one kind, where somebody asks for all of it."""
SEEN = (
    *("task_id", "title", "state", "episode__persona__name", "episode__persona__user_id"),
    *("episode__persona__benchmark__name", "episode__persona__benchmark__slug"),
)
"""What an item shows of a task."""


@dataclass(frozen=True)
class Item:
    title: str
    address: str
    where: str = ""
    """Which benchmark and persona."""
    state: str = ""
    """A key of ``studio.models.statuses``."""
    says: str = ""


@dataclass(frozen=True)
class Group:
    """To-do items of one kind, the most urgent first."""

    key: str
    title: str
    items: tuple[Item, ...] = field(default=())
    count: int = 0
    """All there are, of which ``items`` are some."""

    @property
    def more(self) -> int:
        return self.count - len(self.items)


Source = Callable[[User, QuerySet[Benchmark], int], list[Group]]
"""What waits for a person in these benchmarks, at most so many of a kind. Its number of queries does not depend on how
much it is."""

_sources: dict[str, Source] = {}


def register(name: str, source: Source) -> None:
    """To be called by apps when they are ready."""
    _sources[name] = source


def todo_of(user: User, benchmarks: QuerySet[Benchmark], *, most: int = SHOWN) -> list[Group]:
    """All groups that are not empty."""
    groups = [
        _group("sent-back", "Changes requested", tasks_sent_back(user, benchmarks), most),
        _group("reviews", "To review", tasks_to_review(user, benchmarks), most),
        *(group for source in _sources.values() for group in source(user, benchmarks, most)),
        _group("drafts", "Your drafts", drafts_to_write(user, benchmarks).exclude(state="changes_requested"), most),
    ]
    return [group for group in groups if group.count]


def _group(key: str, title: str, tasks: QuerySet[Task], most: int) -> Group:
    """``rows`` are annotated with their total number."""
    rows = list(tasks.only(*SEEN).annotate(there_are=Window(Count("pk")))[:most])
    return Group(key, title, tuple(_item(task) for task in rows), rows[0].there_are if rows else 0)


def _item(task: Task) -> Item:
    persona = task.episode.persona
    says = "assigned to you" if getattr(task, "mine", False) else ""
    return Item(str(task), task.get_absolute_url(), f"{persona.benchmark} · {persona}", task.state, says)


def drafts_to_write(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Drafts and returned tasks that are assigned to the user, or that they wrote last and nobody is assigned to:
    assigned ones first, then by age."""
    newest = Revision.objects.filter(task=OuterRef("pk"), number=OuterRef("version"), created_by=user)
    return (
        _tasks(benchmarks)
        .annotate(mine=Exists(_named("writer").filter(user=user)))
        .filter(Q(mine=True) | (Exists(newest) & ~Exists(_named("writer"))))
        .filter(state__in=[TaskState.DRAFT, TaskState.CHANGES_REQUESTED])
        .order_by("-mine", "-state", "-updated_at")
    )  # fmt: skip


def tasks_sent_back(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks with requested changes that the user is assigned to or contributed to; assigned ones first."""
    wrote = Revision.objects.filter(task=OuterRef("pk"), created_by=user)
    return (
        _tasks(benchmarks)
        .annotate(mine=Exists(_named("writer").filter(user=user)))
        .filter(Q(mine=True) | Exists(wrote), state=TaskState.CHANGES_REQUESTED)
        .order_by("-mine", "-updated_at")
    )


def tasks_to_review(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks in review that the user may review, did not write last and has not approved yet: first those assigned to
    them, then those with fewer reviewers than required approvals."""
    wrote = Revision.objects.filter(task=OuterRef("pk"), number=OuterRef("version"), created_by=user)
    said_yes = Review.objects.filter(
        revision__task=OuterRef("pk"), revision__number=OuterRef("version"), reviewer=user, decision="approved"
    )
    reviewing = benchmarks.filter(memberships__user=user, memberships__role__in=["owner", "reviewer"])
    asked = _named("reviewer").order_by().values("task").annotate(n=Count("pk")).values("n")
    return (
        _tasks(reviewing)
        .annotate(
            mine=Exists(_named("reviewer").filter(user=user)),
            asked=Coalesce(Subquery(asked, output_field=IntegerField()), 0),
        )
        .filter(Q(mine=True) | Q(asked__lt=F("episode__persona__benchmark__approvals_needed")))
        .filter(~Exists(wrote), ~Exists(said_yes), state=TaskState.IN_REVIEW)
        .order_by("-mine", "updated_at")
    )


def _named(part: str) -> QuerySet[Assignment]:
    return Assignment.objects.filter(task=OuterRef("pk"), part=part)


def _tasks(benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    return Task.objects.filter(episode__persona__benchmark__in=benchmarks).select_related("episode__persona__benchmark")
