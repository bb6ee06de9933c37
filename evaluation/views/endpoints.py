"""Models: of the studio, which administrators connect for everybody, and of one benchmark, which its owners connect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import ProtectedError, RestrictedError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation import visibility
from evaluation.endpoints.catalog import ListedModel, listed_models
from evaluation.endpoints.connection import key_is_set, learned_facts, learned_sentences, request_model
from evaluation.endpoints.prices import list_price
from evaluation.endpoints.services import BY_SLUG, PAPER_SEAT, SERVICES, service_at
from evaluation.endpoints.testing import newest_tests, request_test
from evaluation.forms.endpoints import ConnectForm, EndpointForm, ModelRequestForm
from evaluation.llm import EndpointError, is_internal
from evaluation.models import ModelEndpoint
from studio.access import SignedInRequest, benchmarks_allowing, find_benchmark, may, why_not
from studio.models import Benchmark


@dataclass(frozen=True)
class Place:
    """Where models are connected: the studio, if there is no benchmark."""

    benchmark: Benchmark | None = None

    @classmethod
    def managed(cls, request: SignedInRequest, slug: str | None) -> Place:
        """Raises Http404 or PermissionDenied."""
        if slug is None and not request.user.is_staff:
            raise PermissionDenied("Only administrators can connect models for everybody. Owners connect their own.")
        return cls(find_benchmark(request.user, slug, "manage") if slug else None)

    def find(self, pk: int) -> ModelEndpoint:
        return get_object_or_404(ModelEndpoint, pk=pk, benchmark=self.benchmark)

    def address(self, page: str, *args: int) -> str:
        if self.benchmark is None:
            return reverse(f"evaluation:{page}", args=args)
        return reverse(f"evaluation:benchmark_{page}", args=[self.benchmark.slug, *args])

    @property
    def all(self) -> str:
        return self.address("endpoints")

    @property
    def new(self) -> str:
        return self.address("endpoint_new")

    @property
    def models(self) -> str:
        return self.address("endpoint_models")


@require_GET
def endpoints(request: SignedInRequest, slug: str | None = None) -> HttpResponse:
    return _list_of_benchmark(request, find_benchmark(request.user, slug)) if slug else _list(request)


@require_http_methods(["GET", "POST"])
def endpoint_new(request: SignedInRequest, slug: str | None = None) -> HttpResponse:
    """First the service is chosen, then what is needed for it."""
    place = Place.managed(request, slug)
    service = BY_SLUG.get(request.GET.get("service", ""))
    if service is None:
        context = {"place": place, "services": SERVICES}
        return render(request, "evaluation/endpoints/services.html", context)
    seat = PAPER_SEAT if "paper" in request.GET and service.slug == PAPER_SEAT["service"] else {}
    form = ConnectForm(request.POST or None, benchmark=place.benchmark, service=service, seat=seat)
    if request.method == "POST" and form.is_valid():
        row = form.save()
        request_test(row, by=request.user)
        return redirect(place.address("endpoint", row.pk))
    context = {"place": place, "service": service, "form": form, "paper": bool(seat)}
    return render(request, "evaluation/endpoints/connect.html", context)


@require_POST
def endpoint_models(request: SignedInRequest, slug: str | None = None) -> HttpResponse:
    """For the form of a new model, as it is filled in: the field for the model, with those of the service to choose
    from."""
    place = Place.managed(request, slug)
    service = BY_SLUG.get(request.GET.get("service", ""), BY_SLUG["other"])
    asked = ConnectForm(request.POST, benchmark=place.benchmark, service=service)
    models: list[ListedModel] = []
    problem = ""
    try:
        endpoint = asked.to_ask()
        models = [] if "typed" in request.POST else listed_models(endpoint)
    except EndpointError as error:
        problem = str(error) if request.user.is_staff else error.own_words
    except ValueError as error:
        problem = str(error)
    form = ConnectForm(benchmark=place.benchmark, service=service, seat=asked.cleaned_data)
    if models:
        form.offer(models)
    context = {"place": place, "service": service, "form": form, "problem": problem}
    if request.htmx:
        return render(request, "evaluation/endpoints/connect.html#model", context)
    return render(request, "evaluation/endpoints/connect.html", context)


@require_http_methods(["GET", "POST"])
def endpoint(request: SignedInRequest, pk: int, slug: str | None = None) -> HttpResponse:
    """For htmx only the test, which stops polling once it has ended."""
    place = Place.managed(request, slug)
    row = place.find(pk)
    form = EndpointForm(request.POST or None, instance=row, benchmark=place.benchmark)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect(place.address("endpoint", row.pk))
    live = request.htmx and not request.htmx.boosted
    template = "evaluation/endpoints/endpoint.html" + ("#test" if live else "")
    return render(request, template, _page(request, place, place.find(pk)) | {"form": form})


@require_POST
def endpoint_try(request: SignedInRequest, pk: int, slug: str | None = None) -> HttpResponse:
    place = Place.managed(request, slug)
    row = place.find(pk)
    request_test(row, by=request.user)
    if request.htmx:
        return render(request, "evaluation/endpoints/endpoint.html#test", _page(request, place, row))
    return redirect(place.address("endpoint", row.pk))


@require_POST
def endpoint_remove(request: SignedInRequest, pk: int, slug: str | None = None) -> HttpResponse:
    """One that was used stays, without its key: results name it."""
    place = Place.managed(request, slug)
    row = place.find(pk)
    try:
        row.delete()
    except (ProtectedError, RestrictedError):
        ModelEndpoint.objects.filter(pk=row.pk).update(sealed_key="", key_env="")
        messages.warning(request, f"{row} has results, so its name stays. Its key is deleted.")
    else:
        messages.success(request, f"{row} is removed.")
    return redirect(place.all)


@require_POST
def endpoint_ask(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    form = ModelRequestForm(request.POST)
    if not form.is_valid():
        return _list_of_benchmark(request, benchmark, form)
    request_model(benchmark, form.cleaned_data["text"], by=request.user)
    messages.success(request, "The owners have it in their inbox.")
    return redirect("evaluation:benchmark_endpoints", benchmark.slug)


def _page(request: SignedInRequest, place: Place, row: ModelEndpoint) -> dict[str, Any]:
    listed = list_price(row.base_url, row.model)
    return {
        "place": place,
        "endpoint": row,
        "startable": [place.benchmark] if place.benchmark else benchmarks_allowing(request.user, "pilot"),
        "key": key_is_set(row),
        "learned": learned_sentences(learned_facts(row)),
        "dearer_above": listed.dearer_above if listed else None,
        "may_read_details": request.user.is_staff or not is_internal(row.base_url),
        "service": service_at(row.base_url),
        "tested": newest_tests([row]).get(row.pk),
        "try_address": place.address("endpoint_try", row.pk),
        "remove_address": place.address("endpoint_remove", row.pk),
        "own_address": place.address("endpoint", row.pk),
    }


def _list(request: SignedInRequest) -> HttpResponse:
    rows = list(visibility.visible_endpoints(request.user))
    shared = [row for row in rows if row.benchmark_id is None]
    context = {
        "rows": _with_tests(shared),
        "of_benchmarks": [row for row in rows if row.benchmark_id is not None],
        "only_scripted": all(row.scripted for row in rows),
        "owned": benchmarks_allowing(request.user, "manage"),
    }
    return render(request, "evaluation/endpoints/list.html", context)


def _list_of_benchmark(
    request: SignedInRequest, benchmark: Benchmark, form: ModelRequestForm | None = None
) -> HttpResponse:
    rows = ModelEndpoint.objects.usable_in(benchmark)
    context = {
        "benchmark": benchmark,
        "own": _with_tests(list(rows.filter(benchmark=benchmark))),
        "shared": rows.filter(benchmark=None),
        "manages": may(request.user, benchmark, "manage"),
        "form": form or ModelRequestForm(),
        "why_not": why_not("manage", benchmark),
    }
    return render(request, "evaluation/endpoints/of_benchmark.html", context)


def _with_tests(rows: list[ModelEndpoint]) -> list[tuple[ModelEndpoint, bool | None, Any]]:
    tests = newest_tests(rows)
    return [(row, key_is_set(row), tests.get(row.pk)) for row in rows]
