"""Filters of a benchmark's task list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from studio.access import AnyUser
from studio.findings.queries import open_findings
from studio.models import Assignment, Benchmark, Task, TaskState
from studio.reports.counts import tasks_with_counts
from studio.search.query import clean_query, term_patterns

FILTERS = ("q", "persona", "state", "category", "trigger", "findings", "writer", "reviewer")
NONE = "none"
"""The value for tasks without a category, findings, author or reviewer."""
MATCHES_TEXT = (
    "(studio_task.search @@ websearch_to_tsquery('english', %s)"
    " OR (studio_task.task_id || ' ' || studio_task.title) ILIKE ALL(%s::text[]))"
)
"""Uses a column of ``migrations/_search.py`` that the model does not declare."""
SEVERITIES = ("error", "warning", "hint")
TRIGGERS = dict(Task._meta.get_field("trigger_kind").choices or ())


@dataclass(frozen=True)
class FilteredTasks:
    tasks: QuerySet[Task]
    filters: dict[str, str]
    """The valid filters, by name."""


def filter_tasks(benchmark: Benchmark, given: Mapping[str, str], *, me: AnyUser | None = None) -> FilteredTasks:
    """Tasks with their counts and people, in the order of personas and episodes. ``me``: the user meant by the filters
    ``writer=me`` and ``reviewer=me``."""
    rows = Task.objects.filter(episode__persona__benchmark=benchmark)
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
        rows = rows.filter(episode__persona__user_id=filters["persona"])
    if filters["category"]:
        rows = rows.filter(category="" if filters["category"] == NONE else filters["category"])
    findings = open_findings().filter(task=OuterRef("pk"))
    if filters["findings"] == NONE:
        rows = rows.filter(~Exists(findings.exclude(severity="hint")))
    elif filters["findings"] in SEVERITIES:
        rows = rows.filter(Exists(findings.filter(severity=filters["findings"])))
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
        rows = rows.extra(where=[MATCHES_TEXT], params=[filters["q"], term_patterns(filters["q"])])  # noqa: S610 - a parameter
    ordered = rows.select_related("episode__persona__benchmark").order_by(
        "episode__persona__position", "episode__persona__user_id", "position", "task_id"
    )
    ordered = ordered.prefetch_related(Prefetch("assignments", Assignment.objects.select_related("user")))
    return FilteredTasks(tasks_with_counts(ordered), {name: value for name, value in filters.items() if value})
