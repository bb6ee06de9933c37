"""All tasks of a benchmark: filters in the address, and one change to many."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from studio import access, assigning, bulk, listing
from studio.models import Benchmark, TaskState

PAGE = 100


@login_required
def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    """The list, a hundred on a page."""
    benchmark = access.find_benchmark(request.user, slug)
    can, people = access.actions_in(request.user, benchmark), assigning.candidates(benchmark)
    narrowed = listing.tasks_of(benchmark, request.GET, me=request.user)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "page": Paginator(narrowed.tasks, PAGE).get_page(request.GET.get("page")),
        "kept": narrowed.kept,
        "query": urlencode(narrowed.kept),
        "personas": benchmark.personas.order_by("position", "user_id"),
        "states": TaskState.choices,
        "triggers": listing.TRIGGERS.items(),
        "categories": bulk.categories_of(benchmark),
        "does": [one for one in bulk.DOES.items() if ("assign" if one[0] in bulk.PARTS else "edit") in can],
        "can": can,
        "people": people,
        "everybody": sorted({one.user for each in people.values() for one in each}, key=str),
    }
    return render(request, "studio/tasks.html", context)


@login_required
@require_POST
def change(request: HttpRequest, slug: str) -> HttpResponse:
    """First what the change would do to each task; with ``sure``, do it."""
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "assign" if request.POST.get("does") in bulk.PARTS else "edit")
    kept = {name: value for name, value in parse_qsl(request.POST.get("back", "")) if name in listing.FILTERS}
    back = f"{reverse('studio:tasks', args=[slug])}?{urlencode(kept)}"
    does = request.POST.get("does", "")
    value = request.POST.get("person" if does in bulk.PARTS else "category", "")
    chosen = _chosen(request, benchmark, kept)
    try:
        if "sure" not in request.POST:
            lines = bulk.plan(benchmark, chosen, does, value)
            return render(request, "studio/tasks_change.html", _preview(benchmark, lines, does, value, back, kept))
        number, left = bulk.apply(benchmark, chosen, does, value, by=request.user)
    except bulk.BulkRefused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"{number} {'task' if number == 1 else 'tasks'} changed.")
        if left:
            messages.warning(request, f"{len(left)} left alone: {left[0].task}: {left[0].refusal}")
    return redirect(back)


def _preview(
    benchmark: Benchmark, lines: list[bulk.Line], does: str, value: str, back: str, kept: dict[str, str]
) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "lines": lines,
        "number": sum(line.changes for line in lines),
        "does": does,
        "does_words": bulk.DOES[does],
        "value": value,
        "value_words": bulk.categories_of(benchmark).get(value, "") if does == "category" else "",
        "input": "person" if does in bulk.PARTS else "category",
        "back": back,
        "kept": urlencode(kept),
    }


def _chosen(request: HttpRequest, benchmark: Benchmark, kept: dict[str, str]) -> dict[int, int | None]:
    """Tasks by key with the version that was seen: those ticked, or all the filters let through."""
    if "everything" in request.POST:
        return dict(listing.tasks_of(benchmark, kept, me=request.user).tasks.values_list("pk", "version"))
    chosen: dict[int, int | None] = {}
    for entry in request.POST.getlist("task"):
        pk, _, version = entry.partition(":")
        if _is_number(pk) and _is_number(version):
            chosen[int(pk)] = int(version)
    return chosen


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12
