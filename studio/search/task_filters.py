"""Filters of a benchmark's task list."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Window
from django.db.models.expressions import RawSQL

from studio.access import AnyUser
from studio.findings.queries import SEVERITIES
from studio.models import Assignment, Benchmark, PersonaSummary, Task, TaskState, TaskSummary
from studio.models.listed_tasks import TRIGGERS, ListedTask
from studio.models.statements import NUMBERS, AnyOf, PreparedQuery
from studio.models.summaries import tasks_with_counts
from studio.search.query import NOTHING, clean_query, term_patterns
from studio.search.sources import matching

FILTERS = ("q", "persona", "state", "category", "trigger", "findings", "writer", "reviewer")
PAGE = 50
"""Tasks on a page of the list."""
NONE = "none"
"""The value for tasks without a category, findings, author or reviewer."""
ME = "me"
FINDINGS = (*SEVERITIES, NONE)
CHOSEN: Mapping[str, Collection[str]] = {"state": TaskState.values, "trigger": TRIGGERS, "findings": FINDINGS}
"""Filters that have no other values than these."""


class ListedTasks:
    """Tasks for a paginator: found and counted by their summaries, and only those of a slice are read."""

    def __init__(self, benchmark: int, filters: Mapping[str, str], me: int | None) -> None:
        """``filters``: valid ones."""
        self.benchmark = benchmark
        self.filters = filters
        self.me = me
        self.state = None if filters.keys() - {"state"} else filters.get("state", "")
        """The only filter, or empty without any; None for other filters."""

    @cached_property
    def summaries(self) -> QuerySet[TaskSummary]:
        return _narrowed(self.benchmark, self.filters, self.me)

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
        if all(name in CHOSEN or value in (NONE, ME) for name, value in self.filters.items()):
            rows = _first_page(tuple(sorted(self.filters.items()))).rows(self.benchmark, self.me, most=PAGE)
        else:
            rows = list(_counted(self.summaries)[:PAGE])
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
    filters = {name: clean_query(given.get(name, "")) for name in FILTERS}
    for name, values in CHOSEN.items():
        if filters[name] not in values:
            filters[name] = ""
    chosen = {name: value for name, value in filters.items() if value}
    return FilteredTasks(ListedTasks(benchmark.pk, chosen, me.pk if me else None), chosen)


def _narrowed(benchmark: int, filters: Mapping[str, str], me: int | None) -> QuerySet[TaskSummary]:
    rows = TaskSummary.objects.filter(persona__benchmark=benchmark)
    if state := filters.get("state"):
        rows = rows.filter(state=state)
    if trigger := filters.get("trigger"):
        rows = rows.filter(trigger_kind=trigger)
    if persona := filters.get("persona"):
        rows = rows.filter(persona__user_id=persona)
    if category := filters.get("category"):
        rows = rows.filter(category="" if category == NONE else category)
    if findings := filters.get("findings"):
        rows = rows.filter(errors=0, warnings=0) if findings == NONE else rows.filter(**{f"{findings}s__gt": 0})
    for part in Assignment.Part.values:
        assigned = Assignment.objects.filter(task=OuterRef("pk"), part=part)
        if (person := filters.get(part)) == NONE:
            rows = rows.filter(~Exists(assigned))
        elif person == ME:
            rows = rows.filter(Exists(assigned.filter(user=me)))
        elif person:
            rows = rows.filter(Exists(assigned.filter(user__username=person)))
    if q := filters.get("q"):
        rows = rows.filter(task__in=_matching_tasks(q))
    return _in_order(rows)


def _counted(rows: QuerySet[TaskSummary]) -> QuerySet[TaskSummary, Any]:
    """Keys, each with the number of all."""
    return rows.annotate(number=Window(Count("pk"))).values_list("pk", "number")


@lru_cache(maxsize=200)
def _first_page(filters: tuple[tuple[str, str], ...]) -> PreparedQuery:
    """For filters whose values are a few: to make this statement takes as long as to send it."""
    return PreparedQuery(lambda benchmark, me: _counted(_narrowed(benchmark, dict(filters), me)))


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
