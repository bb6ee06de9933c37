"""Filters of a benchmark's task list."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from studio.access import AnyUser
from studio.domain.episode import Split
from studio.findings.queries import SEVERITIES
from studio.models import Assignment, Benchmark, Task, TaskState
from studio.models.tasks import TRIGGERS
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
COLUMNS = {"state": "state", "trigger": "trigger_kind", "split": "split", "persona": "persona__user_id"}
"""Those that a column has to be equal to."""


@dataclass(frozen=True)
class FilteredTasks:
    tasks: QuerySet[Task]
    filters: dict[str, str]
    """The valid filters, by name."""


def filter_tasks(benchmark: Benchmark, given: Mapping[str, str], *, me: AnyUser | None = None) -> FilteredTasks:
    """Tasks with their personas, in the order of personas and episodes. ``me``: the user meant by the filters
    ``writer=me`` and ``reviewer=me``."""
    filters = {name: clean_query(given.get(name, "")) for name in FILTERS}
    for name, values in CHOSEN.items():
        if filters[name] not in values:
            filters[name] = ""
    chosen = {name: value for name, value in filters.items() if value}
    return FilteredTasks(_narrowed(benchmark.pk, chosen, me.pk if me else None), chosen)


def _narrowed(benchmark: int, filters: Mapping[str, str], me: int | None) -> QuerySet[Task]:
    equal = {column: filters[name] for name, column in COLUMNS.items() if name in filters}
    rows = Task.objects.filter(persona__benchmark=benchmark, **equal).select_related("persona__benchmark")
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


def with_people(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """For those whose ``writer`` and ``reviewers`` are shown."""
    return tasks.prefetch_related("assignments__user")
