"""Filters of a benchmark's task list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.db.models.expressions import RawSQL

from studio.access import AnyUser
from studio.findings.queries import SEVERITIES
from studio.models import Assignment, Benchmark, PersonaSummary, Task, TaskState, TaskSummary
from studio.reports.counts import tasks_with_counts
from studio.search.query import NOTHING, clean_query, term_patterns
from studio.search.sources import matching

FILTERS = ("q", "persona", "state", "category", "trigger", "findings", "writer", "reviewer")
NONE = "none"
"""The value for tasks without a category, findings, author or reviewer."""
FINDINGS = (*SEVERITIES, NONE)
TRIGGERS = dict(Task._meta.get_field("trigger_kind").choices or ())


SHOWN = (
    *("position", "title", "task_id", "state", "category", "trigger_kind", "version", "updated_at"),
    *("episode__persona__name", "episode__persona__user_id"),
    *("episode__persona__benchmark__slug", "episode__persona__benchmark__name"),
)
"""Fields of a listed task; others are read when they are asked for."""


class ListedTasks:
    """Tasks for a paginator: found and counted by their summaries, and only those of a slice are read."""

    def __init__(
        self, summaries: QuerySet[TaskSummary], by_persona: QuerySet[PersonaSummary, tuple[int, int]] | None = None
    ) -> None:
        """``by_persona``: key of each persona and its number of these tasks, in order, if that is known."""
        self.summaries = summaries
        self.by_persona = by_persona

    def count(self) -> int:
        return self.summaries.order_by().count() if self.by_persona is None else sum(n for _, n in self._numbers)

    __len__ = count

    def __getitem__(self, part: slice) -> list[Task]:
        if self.by_persona is None:
            return read_tasks(self.summaries.values_list("pk", flat=True)[part])
        start, stop, _ = part.indices(self.count())
        personas: list[int] = []
        before = first = 0  # tasks of the personas before those of the slice, and before this one
        for persona, number in self._numbers:
            if first < stop and first + number > start:
                before = before if personas else first
                personas.append(persona)
            first += number
        rows = self.summaries.filter(persona__in=personas).values_list("pk", flat=True)
        return read_tasks(rows[start - before : stop - before])

    @cached_property
    def _numbers(self) -> list[tuple[int, int]]:
        return [] if self.by_persona is None else list(self.by_persona)


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
    ordered = rows.order_by("persona__position", "persona__user_id", "position", "name")
    chosen = {name: value for name, value in filters.items() if value}
    listed = ListedTasks(ordered, None if chosen.keys() - {"state"} else _by_persona(benchmark, filters["state"]))
    return FilteredTasks(listed, chosen)


def _by_persona(benchmark: Benchmark, state: str) -> QuerySet[PersonaSummary, tuple[int, int]]:
    """Key of each persona and its number of tasks, or of those in the state, in order."""
    rows = PersonaSummary.objects.filter(persona__benchmark=benchmark)
    return rows.order_by("persona__position", "persona__user_id").values_list("persona", state or "tasks")


def _matching_tasks(q: str) -> RawSQL:
    parts = term_patterns(q)
    sql = matching("studio_task", "(task_id || ' ' || title)")
    parameters = [q, parts != NOTHING, max(parts, key=len), parts]  # in the order of the statement
    return RawSQL(re.sub(r"%\(\w+\)s", "%s", sql), parameters)  # noqa: S611 - constants and parameters


def read_tasks(keys: Iterable[int]) -> list[Task]:
    """What lists show of these tasks, in this order."""
    keys = list(keys)
    rows = tasks_with_counts(Task.objects.filter(pk__in=keys)).select_related("episode__persona__benchmark")
    by_key = rows.only(*SHOWN).prefetch_related(Prefetch("assignments", Assignment.objects.select_related("user")))
    tasks = {task.pk: task for task in by_key}
    return [tasks[key] for key in keys if key in tasks]
