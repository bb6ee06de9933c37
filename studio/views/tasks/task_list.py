"""All tasks of a benchmark, with filters, and bulk changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from studio import access
from studio.access import SignedInRequest
from studio.domain.episode import Split
from studio.forms.post_data import number_of
from studio.models import Benchmark, Task, TaskState
from studio.models.tasks import TRIGGERS
from studio.review import assignments, bulk
from studio.search import task_filters
from studio.views.pages import benchmark_page, page_of, show


@benchmark_page()
def tasks(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    can, people = access.actions_in(request.user, benchmark), assignments.eligible_members(benchmark)
    narrowed = task_filters.filter_tasks(benchmark, request.GET, me=request.user)
    page = page_of(task_filters.with_people(narrowed.tasks), task_filters.PAGE, request.GET.get("page"))
    context: dict[str, Any] = {
        "page": page,
        "columns": _columns(page, narrowed.filters),
        "filters": narrowed.filters,
        "query": urlencode(narrowed.filters),
        "personas": benchmark.personas.order_by("position", "user_id").values_list("user_id", "name"),
        "states": TaskState.choices,
        "triggers": TRIGGERS.items(),
        "categories": bulk.categories_of(benchmark),
        "splits": _splits_used(benchmark),
        "changes": [
            (key, label) for key, label in bulk.ACTIONS.items() if ("assign" if key in bulk.PARTS else "edit") in can
        ],
        "changeable": bool(can & {"edit", "assign"}),
        "people": people,
        "users": sorted({candidate.user for part in people.values() for candidate in part}, key=str),
    }
    return show(request, benchmark, "studio/tasks/list.html", context)


def _splits_used(benchmark: Benchmark) -> list[Split]:
    """Empty if all tasks are public."""
    used = set(Task.objects.filter(persona__benchmark=benchmark).order_by().values_list("split", flat=True).distinct())
    return [split for split in Split if split in used] if used - {Split.PUBLIC} else []


def _columns(rows: Iterable[Task], filters: Mapping[str, str]) -> set[str]:
    """Those that tell something of these rows; by how they are called in the template."""
    rows = list(rows)
    told = {
        "persona": "persona" not in filters and len({row.persona_id for row in rows}) > 1,
        "category": any(row.category for row in rows),
        "split": any(row.split != Split.PUBLIC for row in rows),
        "trigger": any(row.trigger_kind != "user_message" for row in rows),
        "people": any(row.writer or row.reviewers for row in rows),
    }
    return {name for name, tells in told.items() if tells}


@benchmark_page("view", "POST")
def change(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Preview a bulk change, asking for its value first if needed; with ``sure``, make it for all tasks or none."""
    access.require(request.user, benchmark, "assign" if request.POST.get("does") in bulk.PARTS else "edit")
    filters = {name: value for name, value in parse_qsl(request.POST.get("back", "")) if name in task_filters.FILTERS}
    back = f"{reverse('studio:tasks', args=[benchmark.slug])}?{urlencode(filters)}"
    does, value = request.POST.get("does", ""), _value(request)
    chosen = _chosen(request, benchmark, filters)
    context = {"does": does, "value": value or "", "back": back, "filters": urlencode(filters)}
    try:
        if "sure" in request.POST:
            number = bulk.apply(benchmark, chosen, does, value or "", by=request.user)
            messages.success(request, f"{number} {'task' if number == 1 else 'tasks'} changed.")
            return redirect(back)
    except bulk.BulkChangeError as error:
        context["refusal"] = str(error)
    try:
        context |= _preview(benchmark, chosen, does, value, request)
    except bulk.BulkChangeError as error:
        messages.error(request, str(context.get("refusal", error)))
        return redirect(back)
    status = 409 if "refusal" in context else 200
    return show(request, benchmark, "studio/tasks/bulk_change.html", context, status=status)


def _preview(
    benchmark: Benchmark, chosen: dict[int, int | None], does: str, value: str | None, request: SignedInRequest
) -> dict[str, Any]:
    rows = bulk.chosen_tasks(benchmark, chosen)
    context: dict[str, Any] = {
        "tasks": rows,
        "title": bulk.ACTIONS.get(does, ""),
        "input": "person" if does in bulk.PARTS else does if does in bulk.ACTIONS_WITH_CHOICES else "category",
        "values": [value or ""] if does not in ("tools", "skills") else (value or "").split("\n"),
        "asks": does in bulk.ACTIONS_WITH_CHOICES,
        "names": bulk.choices_of(rows, does) if does in bulk.ACTIONS_WITH_CHOICES else [],
    }
    if value is None and does in bulk.ACTIONS_WITH_CHOICES:
        return context
    try:
        lines = bulk.plan(benchmark, chosen, does, value or "", by=request.user)
    except bulk.BulkChangeError as error:
        if does not in bulk.ACTIONS_WITH_CHOICES:
            raise
        return context | {"refusal": str(error)}
    label = bulk.categories_of(benchmark).get(value or "", "") if does == "category" else ""
    return context | {
        "lines": lines,
        "number": sum(line.differs for line in lines),
        "refused": sum(bool(line.refusal) for line in lines),
        "value_label": label,
    }


def _value(request: SignedInRequest) -> str | None:
    """The new value; None if it has not been asked for."""
    does = request.POST.get("does", "")
    if does in bulk.ACTIONS_WITH_CHOICES:
        values = request.POST.getlist(does)
        if "asked" not in request.POST and not values:
            return None
        return values[0] if does in ("group", "split") and values else "\n".join(values)
    return request.POST.get("person" if does in bulk.PARTS else "category", "")


def _chosen(request: SignedInRequest, benchmark: Benchmark, filters: dict[str, str]) -> dict[int, int | None]:
    """Primary keys with the version the user saw: the ticked tasks, or all that match the filters."""
    if "everything" in request.POST:
        rows = task_filters.filter_tasks(benchmark, filters, me=request.user).tasks
        return dict(rows.values_list("pk", "version"))
    chosen: dict[int, int | None] = {}
    for entry in request.POST.getlist("task"):
        pk, _, version = entry.partition(":")
        if number_of(pk) and number_of(version):
            chosen[number_of(pk)] = number_of(version)
    return chosen
