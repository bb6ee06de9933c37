"""Filters of a benchmark's task list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from studio.access import Somebody
from studio.findings.queries import open_findings
from studio.models import Assignment, Benchmark, Task, TaskState
from studio.reports.counts import tasks_with_counts
from studio.search.query import clean, parts_of

FILTERS = ("q", "persona", "state", "category", "trigger", "findings", "writer", "reviewer")
NONE = "none"
"""The value that asks for tasks without a category, or without findings."""
SAYS = (
    "(studio_task.search @@ websearch_to_tsquery('english', %s)"
    " OR (studio_task.task_id || ' ' || studio_task.title) ILIKE ALL(%s::text[]))"
)
"""On the column of migration 0003, which the model does not name."""
SEVERITIES = ("error", "warning", "hint")
TRIGGERS = dict(Task._meta.get_field("trigger_kind").choices or ())


@dataclass(frozen=True)
class Narrowed:
    tasks: QuerySet[Task]
    kept: dict[str, str]
    """The filters that hold, by name; what nobody knows is left out."""


def tasks_of(benchmark: Benchmark, asked: Mapping[str, str], *, me: Somebody | None = None) -> Narrowed:
    """Tasks with their counts and people, in the order of personas and episodes. ``me``: the user meant by the filters
    ``writer=me`` and ``reviewer=me``."""
    rows = Task.objects.filter(episode__persona__benchmark=benchmark)
    kept = {name: clean(asked.get(name, "")) for name in FILTERS}
    if kept["state"] in TaskState.values:
        rows = rows.filter(state=kept["state"])
    else:
        kept["state"] = ""
    if kept["trigger"] in TRIGGERS:
        rows = rows.filter(trigger_kind=kept["trigger"])
    else:
        kept["trigger"] = ""
    if kept["persona"]:
        rows = rows.filter(episode__persona__user_id=kept["persona"])
    if kept["category"]:
        rows = rows.filter(category="" if kept["category"] == NONE else kept["category"])
    found = open_findings().filter(task=OuterRef("pk"))
    if kept["findings"] == NONE:
        rows = rows.filter(~Exists(found.exclude(severity="hint")))
    elif kept["findings"] in SEVERITIES:
        rows = rows.filter(Exists(found.filter(severity=kept["findings"])))
    else:
        kept["findings"] = ""
    for part in Assignment.Part.values:
        named = Assignment.objects.filter(task=OuterRef("pk"), part=part)
        if kept[part] == NONE:
            rows = rows.filter(~Exists(named))
        elif kept[part] == "me":
            rows = rows.filter(Exists(named.filter(user=me.pk if me else None)))
        elif kept[part]:
            rows = rows.filter(Exists(named.filter(user__username=kept[part])))
    if kept["q"]:
        rows = rows.extra(where=[SAYS], params=[kept["q"], parts_of(kept["q"])])  # noqa: S610 - a parameter
    ordered = rows.select_related("episode__persona__benchmark").order_by(
        "episode__persona__position", "episode__persona__user_id", "position", "task_id"
    )
    ordered = ordered.prefetch_related(Prefetch("assignments", Assignment.objects.select_related("user")))
    return Narrowed(tasks_with_counts(ordered), {name: value for name, value in kept.items() if value})
