"""All tasks of a benchmark: filters in the address, and one change to many."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.models import Benchmark, TaskState
from studio.review import assignments, bulk
from studio.search import task_filters

PAGE = 50


@login_required
def tasks(request: SignedInRequest, slug: str) -> HttpResponse:
    """The list, fifty on a page."""
    benchmark = access.find_benchmark(request.user, slug)
    can, people = access.actions_in(request.user, benchmark), assignments.eligible_members(benchmark)
    narrowed = task_filters.filter_tasks(benchmark, request.GET, me=request.user)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "page": Paginator(narrowed.tasks, PAGE).get_page(request.GET.get("page")),
        "kept": narrowed.filters,
        "query": urlencode(narrowed.filters),
        "personas": benchmark.personas.order_by("position", "user_id"),
        "states": TaskState.choices,
        "triggers": task_filters.TRIGGERS.items(),
        "categories": bulk.categories_of(benchmark),
        "does": [one for one in bulk.ACTIONS.items() if ("assign" if one[0] in bulk.PARTS else "edit") in can],
        "can": can,
        "people": people,
        "everybody": sorted({one.user for each in people.values() for one in each}, key=str),
    }
    return render(request, "studio/tasks/list.html", context)


@login_required
@require_POST
def change(request: SignedInRequest, slug: str) -> HttpResponse:
    """First what the change would do to each task, if need be after asking for its value; with ``sure``, do it to all
    of them or to none."""
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "assign" if request.POST.get("does") in bulk.PARTS else "edit")
    kept = {name: value for name, value in parse_qsl(request.POST.get("back", "")) if name in task_filters.FILTERS}
    back = f"{reverse('studio:tasks', args=[slug])}?{urlencode(kept)}"
    does, value = request.POST.get("does", ""), _value(request)
    chosen = _chosen(request, benchmark, kept)
    context = {"benchmark": benchmark, "does": does, "value": value or "", "back": back, "kept": urlencode(kept)}
    try:
        if "sure" in request.POST:
            number = bulk.apply(benchmark, chosen, does, value or "", by=request.user)
            messages.success(request, f"{number} {'task' if number == 1 else 'tasks'} changed.")
            return redirect(back)
    except bulk.BulkChangeError as refusal:
        context["refusal"] = str(refusal)
    try:
        context |= _preview(benchmark, chosen, does, value, request)
    except bulk.BulkChangeError as refusal:
        messages.error(request, str(context.get("refusal", refusal)))
        return redirect(back)
    return render(request, "studio/tasks/bulk_change.html", context, status=409 if "refusal" in context else 200)


def _preview(
    benchmark: Benchmark, chosen: dict[int, int | None], does: str, value: str | None, request: SignedInRequest
) -> dict[str, Any]:
    """``value`` None: it is to be asked for first."""
    rows = bulk.chosen_tasks(benchmark, chosen)
    context: dict[str, Any] = {
        "tasks": rows,
        "does_words": bulk.ACTIONS.get(does, ""),
        "input": "person" if does in bulk.PARTS else does if does in bulk.ACTIONS_WITH_CHOICES else "category",
        "values": [value or ""] if does not in ("tools", "skills") else (value or "").split("\n"),
        "asks": does in bulk.ACTIONS_WITH_CHOICES,
        "names": bulk.choices_of(rows, does) if does in bulk.ACTIONS_WITH_CHOICES else [],
    }
    if value is None and does in bulk.ACTIONS_WITH_CHOICES:
        return context
    try:
        lines = bulk.plan(benchmark, chosen, does, value or "", by=request.user)
    except bulk.BulkChangeError as refusal:
        if does not in bulk.ACTIONS_WITH_CHOICES:
            raise
        return context | {"refusal": str(refusal)}
    words = bulk.categories_of(benchmark).get(value or "", "") if does == "category" else ""
    return context | {
        "lines": lines,
        "number": sum(line.differs for line in lines),
        "refused": sum(bool(line.refusal) for line in lines),
        "value_words": words,
    }


def _value(request: SignedInRequest) -> str | None:
    """What the tasks are to have; None where it was not asked for yet."""
    does = request.POST.get("does", "")
    if does in bulk.ACTIONS_WITH_CHOICES:
        given = request.POST.getlist(does)
        if "asked" not in request.POST and not given:
            return None
        return given[0] if does == "group" and given else "\n".join(given)
    return request.POST.get("person" if does in bulk.PARTS else "category", "")


def _chosen(request: SignedInRequest, benchmark: Benchmark, kept: dict[str, str]) -> dict[int, int | None]:
    """Tasks by key with the version that was seen: those ticked, or all the filters let through."""
    if "everything" in request.POST:
        return dict(task_filters.filter_tasks(benchmark, kept, me=request.user).tasks.values_list("pk", "version"))
    chosen: dict[int, int | None] = {}
    for entry in request.POST.getlist("task"):
        pk, _, version = entry.partition(":")
        if number_of(pk) and number_of(version):
            chosen[number_of(pk)] = number_of(version)
    return chosen
