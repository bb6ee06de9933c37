"""To-do items of a user. Higher layers register further sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import (
    BooleanField,
    Count,
    DateTimeField,
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    Window,
)
from django.db.models.functions import Coalesce

from studio.access import ALLOWED
from studio.models import (
    Assignment,
    Benchmark,
    Event,
    Import,
    Membership,
    Review,
    Revision,
    Task,
    TaskState,
    User,
)
from studio.models.tasks import OUTDATED

SHOWN = 6
"""Items of a kind on Home."""
MAX_ITEMS = 200
"""Items of a kind on its full list."""
ITEM_FIELDS = (
    *("task_id", "title", "state", "persona__name", "persona__user_id"),
    *("persona__benchmark__name", "persona__benchmark__slug"),
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
    since: datetime | None = None


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


TodoSource = Callable[[User, int], list[TodoGroup]]
"""To-do items of the user in their benchmarks, at most ``limit`` of a kind, in a constant number of queries."""

_sources: dict[str, TodoSource] = {}
_late_sources: dict[str, TodoSource] = {}


def register(name: str, source: TodoSource, *, last: bool = False) -> None:
    """``last``: after the person's own drafts."""
    (_late_sources if last else _sources)[name] = source


def todo_of(user: User, *, limit: int = SHOWN) -> list[TodoGroup]:
    own = Benchmark.objects.of_member(user.pk)
    drafts = drafts_to_write(user, own).exclude(state=TaskState.CHANGES_REQUESTED)
    groups = [
        _group("sent-back", "Changes requested", tasks_sent_back(user, own), limit),
        _group("reviews", "To review", tasks_to_review(user, own), limit),
        _publications(user, limit),
        *(group for source in _sources.values() for group in source(user, limit)),
        _group("drafts", "Your drafts", drafts, limit),
        *(group for source in _late_sources.values() for group in source(user, limit)),
    ]
    return [group for group in groups if group.count]


def _shown(tasks: QuerySet[Task], limit: int) -> list[Any]:
    """The first of them, each with ``n_total``, the number of all."""
    rows = tasks.select_related("persona__benchmark").only(*ITEM_FIELDS)
    return list(rows.annotate(n_total=Window(Count("pk")))[:limit])


def _group(key: str, title: str, tasks: QuerySet[Task], limit: int) -> TodoGroup:
    rows = _shown(tasks, limit)
    items = tuple(_item(row, "assigned to you" if row.is_assigned else "") for row in rows)
    return TodoGroup(key, title, items, rows[0].n_total if rows else 0)


def waiting_on_others(user: User, *, limit: int = SHOWN) -> TodoGroup:
    """What the user sent to others and waits for: their tasks in review, the longest waiting first, and imports that
    another owner is to confirm."""
    tasks = _shown(_in_review(user), limit)
    reviewers = _reviewers_of(task.pk for task in tasks)
    benchmarks = {task.persona.benchmark_id for task in tasks}
    others = Membership.objects.filter(benchmark__in=benchmarks, role__in=ALLOWED["review"]).exclude(user=user)
    reviewed = set(others.order_by().values_list("benchmark", flat=True).distinct())
    items = []
    for task in tasks:
        somebody = "any reviewer" if task.persona.benchmark_id in reviewed else "nobody can review it yet"
        items.append(replace(_item(task, reviewers.get(task.pk, somebody)), since=task.since))
    imports = Import.objects.filter(by=user, publication="requested").select_related("benchmark")
    asked = [
        TodoItem(str(row), row.get_absolute_url(), str(row.benchmark), row.publication, "another owner", row.created_at)
        for row in imports.defer("upload", "report").order_by("created_at")[:limit]
    ]
    return TodoGroup("others", "Waiting on others", (*items, *asked), (tasks[0].n_total if tasks else 0) + len(asked))


def _in_review(user: User) -> QuerySet[Task]:
    """Since when, as ``since``."""
    submitted = Event.objects.filter(task=OuterRef("pk"), verb="submitted").order_by("-at").values("at")[:1]
    return (
        _tasks(Benchmark.objects.of_member(user.pk))
        .filter(Q(last_author=user.pk) | Q(pk__in=_tasks_of("writer", user)), state=TaskState.IN_REVIEW)
        .annotate(since=Coalesce(Subquery(submitted, output_field=DateTimeField()), F("updated_at")))
        .order_by("since")
    )


def _reviewers_of(tasks: Iterable[int]) -> dict[int, str]:
    """Names by task."""
    rows = Assignment.objects.filter(task__in=list(tasks), part="reviewer").select_related("user").order_by("pk")
    names: dict[int, list[str]] = {}
    for row in rows:
        names.setdefault(row.task_id, []).append(str(row.user))
    return {task: " and ".join(people) for task, people in names.items()}


def _publications(user: User, limit: int) -> TodoGroup:
    """Imports whose tasks another owner says were approved elsewhere, for this owner to confirm."""
    own = Benchmark.objects.filter(memberships__user=user, memberships__role="owner")
    rows = Import.objects.filter(benchmark__in=own, publication="requested").exclude(by=user)
    rows = rows.select_related("benchmark", "by").defer("upload", "report").order_by("created_at")
    shown = list(rows.annotate(n_total=Window(Count("pk")))[:limit])
    items = [
        TodoItem(str(row), row.get_absolute_url(), str(row.benchmark), row.publication, f"asked by {row.by}")
        for row in shown
    ]
    return TodoGroup("publications", "Imports to confirm", tuple(items), shown[0].n_total if shown else 0)


def _item(task: Task, note: str) -> TodoItem:
    persona = task.persona
    return TodoItem(str(task), task.get_absolute_url(), f"{persona.benchmark} · {persona}", task.state, note)


def drafts_to_write(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Drafts and returned tasks that are assigned to the user, or that they wrote last and nobody is assigned to:
    assigned ones first, then by age."""
    return (
        _tasks(benchmarks)
        .annotate(is_assigned=Exists(_assigned("writer").filter(user=user)))
        .filter(Q(pk__in=_tasks_of("writer", user)) | (Q(last_author=user.pk) & ~Q(pk__in=_tasks_of("writer"))))
        .filter(state__in=[TaskState.DRAFT, TaskState.CHANGES_REQUESTED])
        .order_by("-is_assigned", "-state", "-updated_at")
    )  # fmt: skip


def tasks_sent_back(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks with requested changes that the user is assigned to or contributed to; assigned ones first. All their
    versions are only looked through for tasks that others wrote last."""
    authored = Revision.objects.filter(created_by=user).values("task")
    return (
        _tasks(benchmarks)
        .annotate(is_assigned=Exists(_assigned("writer").filter(user=user)))
        .filter(
            Q(last_author=user.pk) | Q(pk__in=_tasks_of("writer", user)) | Q(pk__in=authored),
            state=TaskState.CHANGES_REQUESTED,
        )
        .order_by("-is_assigned", "-updated_at")
    )


def tasks_to_review(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks in review, and approved ones whose approval is outdated, that the user may review and approve: they wrote
    no part of them and have not approved them as they are. First those assigned to them, then those with fewer
    reviewers than required approvals."""
    newest = Revision.objects.filter(task=OuterRef("pk"), number=F("task__version"))
    wrote = Func(
        Value(user.pk),
        Subquery(newest.values("pk")),
        template="(%(expressions)s)))",
        arg_joiner=" IN (SELECT authors_of_revision(",
        output_field=BooleanField(),
    )
    approved = Review.objects.approvals(
        revision__task=OuterRef("pk"),
        revision__number=F("revision__task__version"),
        reviewer=user,
        content=OuterRef("content"),
    )
    reviewing = benchmarks.filter(memberships__user=user, memberships__role__in=["owner", "reviewer"])
    reviewer_counts = _assigned("reviewer").order_by().values("task").annotate(n=Count("pk")).values("n")
    return (
        _tasks(reviewing)
        .annotate(
            is_assigned=Exists(_assigned("reviewer").filter(user=user)),
            n_reviewers=Coalesce(Subquery(reviewer_counts, output_field=IntegerField()), 0),
        )
        .filter(Q(is_assigned=True) | Q(n_reviewers__lt=F("persona__benchmark__approvals_needed")))
        .filter(Q(state=TaskState.IN_REVIEW) | OUTDATED)
        .exclude(last_author=user.pk)
        .filter(~Exists(approved))
        .alias(wrote=wrote)
        .filter(wrote=False)
        .order_by("-is_assigned", "updated_at")
    )


def _assigned(part: str) -> QuerySet[Assignment]:
    return Assignment.objects.filter(task=OuterRef("pk"), part=part)


def _tasks_of(part: str, user: User | None = None) -> QuerySet[Assignment, Any]:
    """Keys of the tasks to which the user, or anybody, is assigned. For conditions: PostgreSQL takes an ``EXISTS``
    beside an ``OR`` for so dear that it neglects the rest of the plan."""
    rows = Assignment.objects.filter(part=part)
    return (rows if user is None else rows.filter(user=user)).values("task")


def _tasks(benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    return Task.objects.filter(persona__benchmark__in=benchmarks)
