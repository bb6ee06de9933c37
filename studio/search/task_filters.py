"""Filters of a benchmark's task list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from studio.access import AnyUser
from studio.domain.episode import Split
from studio.findings.queries import SEVERITIES
from studio.models import Assignment, Benchmark, Task, TaskState
from studio.models.tasks import TRIGGERS, ListedTask
from studio.search.query import NOTHING, clean_query, term_patterns
from studio.search.sources import matching

FILTERS = ("q", "persona", "state", "category", "trigger", "findings", "split", "writer", "reviewer")
PAGE = 50
"""Tasks on a page of the list."""
NONE = "none"
"""The value for tasks without a category, findings, author or reviewer."""
ME = "me"
FINDINGS = (*SEVERITIES, NONE)
CHOSEN: Mapping[str, Collection[str]] = {
    "state": TaskState.values,
    "trigger": TRIGGERS,
    "findings": FINDINGS,
    "split": list(Split),
}
"""Filters that have no other values than these."""


class ListedTasks:
    """Tasks for a paginator, of which those of a slice are read."""

    def __init__(self, rows: QuerySet[Task]) -> None:
        self.rows = rows

    def count(self) -> int:
        return self.rows.count()

    __len__ = count

    def __getitem__(self, part: slice) -> list[ListedTask]:
        return read_tasks(self.rows.values_list("pk", flat=True)[part])


@dataclass(frozen=True)
class FilteredTasks:
    tasks: ListedTasks
    filters: dict[str, str]
    """The valid filters, by name."""


def filter_tasks(benchmark: Benchmark, given: Mapping[str, str], *, me: AnyUser | None = None) -> FilteredTasks:
    """Tasks with their counts and people, in the order of personas and episodes. ``me``: the user meant by the filters
    ``writer=me`` and ``reviewer=me``."""
    filters = {name: clean_query(given.get(name, "")) for name in FILTERS}
    for name, values in CHOSEN.items():
        if filters[name] not in values:
            filters[name] = ""
    chosen = {name: value for name, value in filters.items() if value}
    return FilteredTasks(ListedTasks(_narrowed(benchmark.pk, chosen, me.pk if me else None)), chosen)


def _narrowed(benchmark: int, filters: Mapping[str, str], me: int | None) -> QuerySet[Task]:
    rows = Task.objects.filter(persona__benchmark=benchmark)
    if state := filters.get("state"):
        rows = rows.filter(state=state)
    if trigger := filters.get("trigger"):
        rows = rows.filter(trigger_kind=trigger)
    if split := filters.get("split"):
        rows = rows.filter(split=split)
    if persona := filters.get("persona"):
        rows = rows.filter(persona__user_id=persona)
    if category := filters.get("category"):
        rows = rows.filter(category="" if category == NONE else category)
    if findings := filters.get("findings"):
        rows = rows.filter(n_errors=0, n_warnings=0) if findings == NONE else rows.filter(**{f"n_{findings}s__gt": 0})
    for part in Assignment.Part.values:
        assigned = Assignment.objects.filter(task=OuterRef("pk"), part=part)
        if (person := filters.get(part)) == NONE:
            rows = rows.filter(~Exists(assigned))
        elif person == ME:
            rows = rows.filter(Exists(assigned.filter(user=me)))
        elif person:
            rows = rows.filter(Exists(assigned.filter(user__username=person)))
    if q := filters.get("q"):
        rows = rows.filter(pk__in=_matching_tasks(q))
    return rows.order_by("persona__position", "persona__user_id", "position", "task_id")


def _matching_tasks(q: str) -> RawSQL:
    parts = term_patterns(q)
    sql = matching("studio_task", "(task_id || ' ' || title)")
    parameters = [q, parts != NOTHING, max(parts, key=len), parts]  # in the order of the statement
    return RawSQL(re.sub(r"%\(\w+\)s", "%s", sql), parameters)  # noqa: S611 - constants and parameters


def read_tasks(keys: Iterable[int]) -> list[ListedTask]:
    """In this order."""
    keys = list(keys)
    if not keys:
        return []
    tasks = {row[0]: ListedTask(*row) for row in Task.objects.filter(pk__in=keys).order_by().values_list(*LISTED)}
    assigned = Assignment.objects.filter(task__in=keys).order_by("pk")
    people: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for task, part, username, name in assigned.values_list("task_id", "part", "user__username", "user__display_name"):
        people.setdefault((task, part), []).append((username, name or username))
    return [
        tasks[key]._replace(
            writer=next(iter(people.get((key, Assignment.Part.WRITER), ())), None),
            reviewers=tuple(people.get((key, Assignment.Part.REVIEWER), ())),
        )
        for key in keys
        if key in tasks
    ]


LISTED = (
    *("pk", "position", "title", "task_id", "state", "category", "trigger_kind", "version", "updated_at"),
    *("persona__user_id", "persona__name", "persona__benchmark__slug"),
    *(F("n_local") + F("n_persistent"), F("n_rubric") + F("n_rule"), "n_errors", "n_warnings"),
    "split",
)
"""The columns of a ListedTask."""
