"""Models of one benchmark: its owners connect them, its members use them and ask for more."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import ProtectedError, RestrictedError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation.endpoints.connection import check_endpoint, key_is_set, request_model
from evaluation.forms.endpoints import EndpointForm, ModelRequestForm
from evaluation.models import ModelEndpoint
from studio.access import SignedInRequest, find_benchmark, may, require, why_not
from studio.models import Benchmark


@login_required
@require_GET
def endpoints(request: SignedInRequest, slug: str) -> HttpResponse:
    return _list(request, find_benchmark(request.user, slug))


@login_required
@require_http_methods(["GET", "POST"])
def endpoint_new(request: SignedInRequest, slug: str) -> HttpResponse:
    return _edit(request, find_benchmark(request.user, slug), None)


@login_required
@require_http_methods(["GET", "POST"])
def endpoint(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    return _edit(request, benchmark, _own(benchmark, pk))


@login_required
@require_POST
def endpoint_try(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    require(request.user, benchmark, "manage")
    row = _own(benchmark, pk)
    return _list(request, benchmark, trials={row.pk: check_endpoint(row)})


@login_required
@require_POST
def endpoint_remove(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """One that was used stays, without its key: results name it."""
    benchmark = find_benchmark(request.user, slug)
    require(request.user, benchmark, "manage")
    row = _own(benchmark, pk)
    try:
        row.delete()
    except (ProtectedError, RestrictedError):
        ModelEndpoint.objects.filter(pk=row.pk).update(sealed_key="", key_env="")
        messages.warning(request, f"{row} has results, so its name stays. Its key is deleted.")
    else:
        messages.success(request, f"{row} is removed.")
    return redirect("evaluation:benchmark_endpoints", benchmark.slug)


@login_required
@require_POST
def endpoint_ask(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    form = ModelRequestForm(request.POST)
    if not form.is_valid():
        return _list(request, benchmark, form=form)
    request_model(benchmark, form.cleaned_data["text"], by=request.user)
    messages.success(request, "The owners have it in their inbox.")
    return redirect("evaluation:benchmark_endpoints", benchmark.slug)


def _own(benchmark: Benchmark, pk: int) -> ModelEndpoint:
    return get_object_or_404(ModelEndpoint, pk=pk, benchmark=benchmark)


def _list(
    request: SignedInRequest,
    benchmark: Benchmark,
    *,
    trials: dict[int, object] | None = None,
    form: ModelRequestForm | None = None,
) -> HttpResponse:
    rows = ModelEndpoint.objects.usable_in(benchmark)
    context = {
        "benchmark": benchmark,
        "own": [(row, key_is_set(row), (trials or {}).get(row.pk)) for row in rows.filter(benchmark=benchmark)],
        "shared": rows.filter(benchmark=None),
        "manages": may(request.user, benchmark, "manage"),
        "form": form or ModelRequestForm(),
        "why_not": why_not("manage", benchmark),
    }
    return render(request, "evaluation/endpoints/of_benchmark.html", context)


def _edit(request: SignedInRequest, benchmark: Benchmark, row: ModelEndpoint | None) -> HttpResponse:
    require(request.user, benchmark, "manage")
    form = EndpointForm(request.POST or None, instance=row, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved. Test it before you start a pilot with it.")
        return redirect("evaluation:benchmark_endpoints", benchmark.slug)
    context = {"form": form, "endpoint": row, "benchmark": benchmark}
    return render(request, "evaluation/endpoints/endpoint.html", context)
