"""Saved views of results, and the tags of pilots by which they are chosen."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST

from evaluation.audits.blindness import find_pilot, open_pilots
from evaluation.forms.results import ResultsForm
from evaluation.models import ResultsView
from evaluation.results.benchmark_results import ResultsError
from evaluation.results.selection import address_of_view, save_view, set_tags
from studio.access import SignedInRequest, find_benchmark, require


@login_required
@require_GET
def view(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """What was saved, as it is now."""
    return redirect(address_of_view(_find(request, slug, number)))


@login_required
@require_POST
def save(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    require(request.user, benchmark, "pilot")
    form = ResultsForm(request.POST, pilots=list(open_pilots(request.user).filter(benchmark=benchmark)))
    try:
        made = save_view(
            benchmark,
            request.POST.get("name", "").replace("\0", ""),
            by=request.user,
            pilots=sorted(form.numbers),
            rule=form.rule,
            scoring=form.mode.value,
            figure=form.figure_name if request.POST.get("figure") else "",
        )
    except ResultsError as error:
        messages.error(request, str(error))
        return redirect("evaluation:results", slug)
    messages.success(request, f"Saved as “{made}”. Everybody in the benchmark can open it.")
    return redirect(made)


@login_required
@require_POST
def remove(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    row = _find(request, slug, number)
    require(request.user, row.benchmark, "pilot")
    row.delete()
    messages.success(request, f"Removed “{row}”. Releases that have its numbers keep them.")
    return redirect("evaluation:results", slug)


@login_required
@require_POST
def freeze(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """Whether the next releases take its numbers with them."""
    row = _find(request, slug, number)
    require(request.user, row.benchmark, "release")
    row.in_releases = request.POST.get("in_releases") == "1"
    row.save(update_fields=["in_releases"])
    messages.success(
        request,
        f"The next release takes the numbers of “{row}” with it."
        if row.in_releases
        else f"The next release leaves “{row}” out.",
    )
    return redirect("evaluation:results", slug)


@login_required
@require_POST
def tags(request: SignedInRequest, pk: int) -> HttpResponse:
    pilot = find_pilot(request.user, pk)
    require(request.user, pilot.benchmark, "pilot")
    try:
        set_tags(pilot, request.POST.get("tags", ""))
    except ResultsError as error:
        messages.error(request, str(error))
    return redirect(pilot)


def _find(request: SignedInRequest, slug: str, number: int) -> ResultsView:
    return get_object_or_404(
        ResultsView.objects.select_related("benchmark"),
        benchmark=find_benchmark(request.user, slug),
        number=min(number, 2**31 - 1),
    )
