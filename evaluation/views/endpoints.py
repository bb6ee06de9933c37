"""The studio's models: everyone sees them, administrators connect them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation import visibility
from evaluation.endpoints.connection import check_endpoint, key_is_set
from evaluation.forms.endpoints import EndpointForm
from evaluation.models import ModelEndpoint
from studio.access import SignedInRequest


@login_required
@require_GET
def endpoints(request: SignedInRequest) -> HttpResponse:
    return _list(request)


@login_required
@require_http_methods(["GET", "POST"])
def endpoint_new(request: SignedInRequest) -> HttpResponse:
    return _edit(request, None)


@login_required
@require_http_methods(["GET", "POST"])
def endpoint(request: SignedInRequest, pk: int) -> HttpResponse:
    return _edit(request, get_object_or_404(ModelEndpoint, pk=pk, benchmark=None))


@login_required
@require_POST
def endpoint_try(request: SignedInRequest, pk: int) -> HttpResponse:
    _staff_only(request)
    row = get_object_or_404(ModelEndpoint, pk=pk, benchmark=None)
    trial = check_endpoint(row)
    if request.htmx:
        return render(request, "evaluation/endpoints/list.html#trial", {"endpoint": row, "trial": trial})
    return _list(request, trials={row.pk: trial})


def _list(request: SignedInRequest, trials: dict[int, object] | None = None) -> HttpResponse:
    endpoints = list(visibility.visible_endpoints(request.user))
    shared = [row for row in endpoints if row.benchmark_id is None]
    rows = [(row, key_is_set(row), (trials or {}).get(row.pk)) for row in shared]
    return render(
        request,
        "evaluation/endpoints/list.html",
        {
            "rows": rows,
            "of_benchmarks": [row for row in endpoints if row.benchmark_id is not None],
            "only_scripted": all(row.scripted for row in shared),
        },
    )


def _edit(request: SignedInRequest, row: ModelEndpoint | None) -> HttpResponse:
    _staff_only(request)
    form = EndpointForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved. Test it before you start a pilot with it.")
        return redirect("evaluation:endpoints")
    return render(request, "evaluation/endpoints/endpoint.html", {"form": form, "endpoint": row})


def _staff_only(request: SignedInRequest) -> None:
    if not request.user.is_staff:
        raise PermissionDenied("Only administrators can connect models for everybody. Owners connect their own.")
