"""Filters of a benchmark's task list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Window
from django.db.models.expressions import RawSQL

from studio.access import AnyUser
from studio.findings.queries import SEVERITIES
from studio.models import Assignment, Benchmark, PersonaSummary, Task, TaskState, TaskSummary
from studio.models.listed_tasks import TRIGGERS, ListedTask
from studio.models.statements import NUMBERS, AnyOf, PreparedQuery
from studio.reports.counts import tasks_with_counts
from studio.search.query import NOTHING, clean_query, term_patterns
from studio.search.sources import matching

FILTERS = ("q", "persona", "state", "category", "trigger", "findings", "writer", "reviewer")
PAGE = 50
"""Tasks on a page of the list."""
NONE = "none"
"""The value for tasks without a category, findings, author or reviewer."""
FINDINGS = (*SEVERITIES, NONE)


class ListedTasks:
    """Tasks for a paginator: found and counted by their summaries, and only those of a slice are read."""

    def __init__(self, summaries: QuerySet[TaskSummary], benchmark: int, state: str | None) -> None:
        """``state``: the only filter, or empty without any; None for other filters."""
        self.summaries = summaries
        self.benchmark = benchmark
        self.state = state

    def count(self) -> int:
        return self._first[1] if self.state is None else sum(n for _, n in self._by_persona)

    __len__ = count

    def __getitem__(self, part: slice) -> list[ListedTask]:
        if self.state is None:
            early = part.indices(self.count())[1] <= PAGE
            return read_tasks(self._first[0][part] if early else self.summaries.values_list("pk", flat=True)[part])
        start, stop, _ = part.indices(self.count())
        personas: list[int] = []
        before = first = 0  # tasks of the personas before those of the slice, and before this one
        for persona, number in self._by_persona:
            if first < stop and first + number > start:
                before = before if personas else first
                personas.append(persona)
            first += number
        keys = _KEYS[self.state].values(personas) if personas else []
        return read_tasks(keys[start - before : stop - before])

    @cached_property
    def _first(self) -> tuple[list[int], int]:
        """Keys of the first page, and how many tasks there are: counting them alone takes as long as both."""
        rows = list(self.summaries.annotate(number=Window(Count("pk"))).values_list("pk", "number")[:PAGE])
        return [pk for pk, _ in rows], rows[0][1] if rows else 0

    @cached_property
    def _by_persona(self) -> list[tuple[int, int]]:
        """Key of each persona and its number of these tasks, in order."""
        return _BY_PERSONA[self.state or ""].pairs(self.benchmark)


def _by_persona(state: str, benchmark: int) -> QuerySet[PersonaSummary, Any]:
    rows = PersonaSummary.objects.filter(persona__benchmark=benchmark)
    return rows.order_by("persona__position", "persona__user_id").values_list("persona", state or "tasks")


def _keys(state: str, personas: int) -> QuerySet[TaskSummary, Any]:
    rows = TaskSummary.objects.filter(AnyOf("persona", personas), **({"state": state} if state else {}))
    return _in_order(rows).values_list("pk")


def _in_order(rows: QuerySet[TaskSummary]) -> QuerySet[TaskSummary]:
    return rows.order_by("persona__position", "persona__user_id", "position", "name")


_BY_PERSONA, _KEYS = (
    {state: PreparedQuery(partial(make, state), NUMBERS[0]) for state in ("", *TaskState.values)}
    for make in (_by_persona, _keys)
)


@dataclass(frozen=True)
class FilteredTasks:
    tasks: ListedTasks
    filters: dict[str, str]
    """The valid filters, by name."""


def filter_tasks(benchmark: Benchmark, given: Mapping[str, str], *, me: AnyUser | None = None) -> FilteredTasks:
    """Tasks with their counts and people, in the order of personas and episodes. ``me``: the user meant by the filters
    ``writer=me`` and ``reviewer=me``."""
    rows = TaskSummary.objects.filter(persona__benchmark=benchmark)
    filters = {name: clean_query(given.get(name, "")) for name in FILTERS}
    if filters["state"] in TaskState.values:
        rows = rows.filter(state=filters["state"])
    else:
        filters["state"] = ""
    if filters["trigger"] in TRIGGERS:
        rows = rows.filter(trigger_kind=filters["trigger"])
    else:
        filters["trigger"] = ""
    if filters["persona"]:
        rows = rows.filter(persona__user_id=filters["persona"])
    if filters["category"]:
        rows = rows.filter(category="" if filters["category"] == NONE else filters["category"])
    if filters["findings"] == NONE:
        rows = rows.filter(errors=0, warnings=0)
    elif filters["findings"] in SEVERITIES:
        rows = rows.filter(**{f"{filters['findings']}s__gt": 0})
    else:
        filters["findings"] = ""
    for part in Assignment.Part.values:
        assigned = Assignment.objects.filter(task=OuterRef("pk"), part=part)
        if filters[part] == NONE:
            rows = rows.filter(~Exists(assigned))
        elif filters[part] == "me":
            rows = rows.filter(Exists(assigned.filter(user=me.pk if me else None)))
        elif filters[part]:
            rows = rows.filter(Exists(assigned.filter(user__username=filters[part])))
    if filters["q"]:
        rows = rows.filter(task__in=_matching_tasks(filters["q"]))
    chosen = {name: value for name, value in filters.items() if value}
    state = None if chosen.keys() - {"state"} else filters["state"]
    return FilteredTasks(ListedTasks(_in_order(rows), benchmark.pk, state), chosen)


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
    tasks = {row[0]: ListedTask(*row) for row in _LISTED.rows(keys)}
    people: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for task, part, username, name in _PEOPLE.rows(keys):
        people.setdefault((task, part), []).append((username, name or username))
    return [
        tasks[key]._replace(
            writer=next(iter(people.get((key, Assignment.Part.WRITER), ())), None),
            reviewers=tuple(people.get((key, Assignment.Part.REVIEWER), ())),
        )
        for key in keys
        if key in tasks
    ]


_LISTED = PreparedQuery(
    lambda keys: (
        tasks_with_counts(Task.objects.filter(AnyOf("pk", keys)))
        .order_by()
        .values_list(
            *("pk", "position", "title", "task_id", "state", "category", "trigger_kind", "version", "updated_at"),
            *("episode__persona__user_id", "episode__persona__name", "episode__persona__benchmark__slug"),
            *("n_intents", "n_items", "n_errors", "n_warnings"),
        )
    )
)
_PEOPLE = PreparedQuery(
    lambda keys: (
        Assignment.objects.filter(AnyOf("task", keys))
        .order_by("pk")
        .values_list("task", "part", "user__username", "user__display_name")
    )
)
