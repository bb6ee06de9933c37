"""Pilots: the list, starting one, watching it, and its report."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation import visibility
from evaluation.audits.blindness import blinded_pilots, blinded_sessions, pending_verdicts
from evaluation.audits.campaigns import audits_of
from evaluation.forms.pilots import PilotForm
from evaluation.grading.script_versions import sessions_graded_by_older_scripts
from evaluation.models import Pilot
from evaluation.pilots.lifecycle import cancel_pilot, retry_pilot
from evaluation.pilots.matrix import pilot_progress, session_matrix
from evaluation.pilots.start import PilotError, start_pilot
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.pilot_report import pilot_report
from studio.access import SignedInRequest, actions_in, benchmarks_for, find_benchmark, may, require

PER_PAGE = 50
PERSONAS_PER_PAGE = 5
NOBODY_AFTER = timedelta(seconds=30)
UNDER_WAY = (Pilot.State.WAITING, Pilot.State.RUNNING)
STEPS = {
    "cancel": (cancel_pilot, "Cancelled. Finished sessions are kept."),
    "retry": (retry_pilot, "Resumed. Answered calls are not repeated."),
}


@login_required
@require_GET
def pilots(request: SignedInRequest) -> HttpResponse:
    """Of every benchmark the person belongs to."""
    return _list(request, None)


@login_required
@require_GET
def benchmark_pilots(request: SignedInRequest, slug: str) -> HttpResponse:
    return _list(request, slug)


@login_required
@require_http_methods(["GET", "POST"])
def pilot_new(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    require(request.user, benchmark, "pilot")
    wished: dict[str, Any] = {name: request.GET[name] for name in ("persona", "agent") if name in request.GET}
    if chosen := request.GET.getlist("task"):
        wished["tasks"] = chosen
    form = PilotForm(request.POST or None, benchmark=benchmark, initial=wished)
    if request.method == "POST" and form.is_valid():
        try:
            pilot = start_pilot(benchmark, by=request.user, **form.arguments)
        except PilotError as refused:
            form.add_error_to(refused.field, refused.message)
        else:
            return redirect(pilot)
    costs = visibility.mean_session_costs()
    endpoints = list(visibility.endpoints())
    return render(
        request,
        "evaluation/pilots/new.html",
        {
            "benchmark": benchmark,
            "form": form,
            "costs": [(row, *costs[row.pk]) for row in endpoints if row.pk in costs],
            "only_scripted": all(row.scripted for row in endpoints),
        },
    )


@login_required
@require_GET
def pilot(request: SignedInRequest, pk: int) -> HttpResponse:
    """The page; for htmx the part that moves, without its trigger once the pilot is over."""
    row = get_object_or_404(visibility.visible_pilots(request.user), pk=pk)
    template = "evaluation/pilots/pilot.html"
    if request.htmx and not request.htmx.boosted:
        template += "#live"
    return render(request, template, _page(request, row))


@login_required
@require_POST
def pilot_step(request: SignedInRequest, pk: int, step: str) -> HttpResponse:
    row: Pilot = get_object_or_404(visibility.visible_pilots(request.user), pk=pk)
    require(request.user, row.benchmark, "pilot")
    take, said = STEPS[step]
    take(row.pk, by=request.user)
    messages.success(request, said)
    return redirect(row)


@login_required
@require_GET
def pilot_json(request: SignedInRequest, pk: int) -> HttpResponse:
    """The report as a file; withheld from who still judges decisions of this pilot."""
    row = get_object_or_404(visibility.visible_pilots(request.user), pk=pk)
    if pending_verdicts(request.user, row):
        raise PermissionDenied(
            "You judge decisions of this pilot blind. Its report is available once you have opened the audit's results."
        )
    response = JsonResponse(pilot_report(row), json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{row.benchmark.slug}-pilot-{row.number}.json"'
    return response


def _list(request: SignedInRequest, slug: str | None) -> HttpResponse:
    found = visibility.with_counts(visibility.visible_pilots(request.user)).order_by("-created_at", "-pk")
    benchmark = None
    if slug is not None:
        benchmark = find_benchmark(request.user, slug)
        found = found.filter(benchmark=benchmark)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    mine = list(benchmarks_for(request.user).order_by("name"))
    return render(
        request,
        "evaluation/pilots/list.html",
        {
            "page": page,
            "blind": blinded_pilots(request.user),
            "benchmark": benchmark,
            "benchmarks": mine,
            "may_start": benchmark is not None and may(request.user, benchmark, "pilot"),
        },
    )


def _page(request: SignedInRequest, row: Pilot) -> dict[str, Any]:
    standing = pilot_progress(row)
    page = Paginator(visibility.personas_of(row), PERSONAS_PER_PAGE).get_page(request.GET.get("page"))
    sessions = list(visibility.sessions_of(row).filter(run__persona_revision__persona__in=list(page)))
    blind = blinded_sessions(request.user, row)
    for session in sessions:
        session.blind = session.pk in blind  # type: ignore[attr-defined]
    under_way = row.state in UNDER_WAY
    actions = actions_in(request.user, row.benchmark)
    return {
        "pilot": row,
        "standing": standing,
        "page": page,
        "personas": session_matrix(sessions),
        "runs": range(1, row.runs_wanted + 1),
        "under_way": under_way,
        "nobody_works": under_way and not standing.turns and timezone.now() - row.created_at > NOBODY_AFTER,
        "blind": bool(blind),
        "scores": None if blind else row.scores,
        "ways": [] if blind or not row.scores else [(mode, row.scores[mode]) for mode in ScoringMode],
        "may_cancel": "pilot" in actions and (under_way or row.state == Pilot.State.STOPPED),
        "may_retry": "pilot" in actions and standing.stopped and row.state != Pilot.State.CANCELLED,
        "may_audit": "plan_audit" in actions and not under_way,
        "may_start": "pilot" in actions,
        "audits": audits_of(row),
        "older_scripts": [] if under_way else sessions_graded_by_older_scripts(row),
    }
