"""The search page, and the command palette's suggestions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.http import urlencode

from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.models import TaskState
from studio.search import query


def search(request: SignedInRequest) -> HttpResponse:
    filters = {name: request.GET.get(name, "") for name in ("q", "benchmark", "kind", "state", "within")}
    page = _page(request.GET.get("page", ""))
    results = query.search(
        request.user,
        filters["q"],
        benchmark=filters["benchmark"],
        kind=filters["kind"],
        state=filters["state"],
        within=number_of(filters["within"]),
        page=page,
    )
    active = {name: value for name, value in filters.items() if value}
    without_kind = {name: value for name, value in active.items() if name != "kind"}

    def shown(number: int, kinds: Collection[str]) -> str:
        return f"{number:,}+" if results.beyond & set(kinds) else str(number)

    context: dict[str, Any] = {
        "filters": filters,
        "results": results,
        "is_filtered": bool(active.keys() - {"q"}),
        "benchmarks": query.searched_benchmarks(request.user),
        "states": TaskState.choices,
        "tabs": [
            (label, shown(results.counts[kind], {kind}), urlencode(without_kind | {"kind": kind}), kind)
            for kind, label in query.kinds()
            if results.counts.get(kind)
        ],
        "all_query": urlencode(without_kind),
        "everywhere": urlencode({name: value for name, value in active.items() if name != "within"}),
        "all_count": shown(sum(results.counts.values()), results.beyond),
        "total": shown(results.total, {filters["kind"]} if filters["kind"] in results.counts else results.beyond),
        "before": urlencode(active | {"page": page - 1}) if page > 1 else "",
        "after": urlencode(active | {"page": page + 1}) if page * query.PAGE < results.total else "",
        "first": (page - 1) * query.PAGE + 1,
        "last": (page - 1) * query.PAGE + len(results.hits),
    }
    return render(request, "studio/search/results.html", context)


def destinations(request: SignedInRequest) -> JsonResponse:
    places = [vars(place) for place in query.find_destinations(request.user, request.GET.get("q", ""))]
    return JsonResponse({"places": places}, headers={"Cache-Control": "no-store"})


def _page(text: str) -> int:
    return max(1, number_of(text))
