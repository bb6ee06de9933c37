"""Finding things: the search page, and what the palette asks for while somebody types."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.http import urlencode

from studio import access
from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.models import TaskState
from studio.search import query as searching


@login_required
def search(request: SignedInRequest) -> HttpResponse:
    """Everything that says what is asked for, with filters in the address."""
    asked = {name: request.GET.get(name, "") for name in ("q", "benchmark", "kind", "state")}
    page = _page(request.GET.get("page", ""))
    found = searching.search(
        request.user,
        asked["q"],
        benchmark=asked["benchmark"],
        kind=asked["kind"],
        state=asked["state"],
        page=page,
    )
    kept = {name: value for name, value in asked.items() if value}
    without_kind = {name: value for name, value in kept.items() if name != "kind"}
    context: dict[str, Any] = {
        "asked": asked,
        "found": found,
        "benchmarks": access.benchmarks_for(request.user),
        "states": TaskState.choices,
        "tabs": [
            (label, found.counts[kind], urlencode(without_kind | {"kind": kind}), kind)
            for kind, label in searching.kinds()
            if found.counts.get(kind)
        ],
        "all_query": urlencode(without_kind),
        "all_count": sum(found.counts.values()),
        "before": urlencode(kept | {"page": page - 1}) if page > 1 else "",
        "after": urlencode(kept | {"page": page + 1}) if page * searching.PAGE < found.total else "",
        "first": (page - 1) * searching.PAGE + 1,
        "last": (page - 1) * searching.PAGE + len(found.hits),
    }
    return render(request, "studio/search/results.html", context)


@login_required
def places(request: SignedInRequest) -> JsonResponse:
    """At most ten benchmarks, personas and tasks by id or title, as JSON."""
    found = searching.find_destinations(request.user, request.GET.get("q", ""))
    return JsonResponse({"places": [vars(place) for place in found]}, headers={"Cache-Control": "no-store"})


def _page(text: str) -> int:
    return max(1, number_of(text))
