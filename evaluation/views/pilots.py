"""Pilots: the list, starting one, its page and report."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation import visibility
from evaluation.audits.blindness import closed_pilots, find_pilot, open_pilots
from evaluation.audits.campaigns import audits_of
from evaluation.forms.pilots import PilotForm
from evaluation.grading.judgings import scoring_choice
from evaluation.grading.script_versions import sessions_graded_by_older_scripts
from evaluation.models import Pilot
from evaluation.pilots.lifecycle import cancel_pilot, retry_pilot
from evaluation.pilots.matrix import pilot_progress, session_matrix
from evaluation.pilots.start import PilotError, start_pilot
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.comparison import summarize_rounds
from evaluation.results.pilot_report import pilot_report
from evaluation.results.scores import read_scores, refresh_scores
from studio.access import (
    SignedInRequest,
    actions_in,
    benchmarks_allowing,
    benchmarks_for,
    find_benchmark,
    require,
    why_not,
)

PER_PAGE = 50
PERSONAS_PER_PAGE = 5
WORKER_TIMEOUT = timedelta(seconds=30)
RUNNING = (Pilot.State.WAITING, Pilot.State.RUNNING)
STEPS = {
    "cancel": (cancel_pilot, "Cancelled. Finished sessions are kept."),
    "retry": (retry_pilot, "Resumed. Answered calls are not repeated."),
}


@login_required
@require_GET
def pilots(request: SignedInRequest) -> HttpResponse:
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
    initial: dict[str, Any] = {name: request.GET[name] for name in ("persona", "agent") if name in request.GET}
    if tasks := request.GET.getlist("task"):
        initial["tasks"] = tasks
    form = PilotForm(request.POST or None, benchmark=benchmark, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            pilot = start_pilot(benchmark, by=request.user, **form.arguments)
        except PilotError as error:
            form.add_error_to(error.field, error.message)
        else:
            return redirect(pilot)
    costs = visibility.mean_session_costs()
    endpoints = list(visibility.endpoints_for(benchmark))
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
    """For htmx only the live part, which stops polling once the pilot has ended."""
    row = find_pilot(request.user, pk)
    template = "evaluation/pilots/pilot.html"
    if request.htmx and not request.htmx.boosted:
        template += "#live"
    return render(request, template, _page(request, row))


@login_required
@require_POST
def pilot_step(request: SignedInRequest, pk: int, step: str) -> HttpResponse:
    row = find_pilot(request.user, pk)
    require(request.user, row.benchmark, "pilot")
    act, message = STEPS[step]
    act(row.pk, by=request.user)
    messages.success(request, message)
    return redirect(row)


@login_required
@require_GET
def pilot_json(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_pilot(request.user, pk)
    response = JsonResponse(pilot_report(row), json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{row.benchmark.slug}-pilot-{row.number}.json"'
    return response


def _list(request: SignedInRequest, slug: str | None) -> HttpResponse:
    rows = visibility.with_counts(open_pilots(request.user)).order_by("-created_at", "-pk")
    closed = Pilot.objects.filter(pk__in=closed_pilots(request.user))
    benchmark = None
    if slug is not None:
        benchmark = find_benchmark(request.user, slug)
        rows, closed = rows.filter(benchmark=benchmark), closed.filter(benchmark=benchmark)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    refresh_scores(page)
    benchmarks = list(benchmarks_for(request.user).order_by("name"))
    startable = set(benchmarks_allowing(request.user, "pilot").values_list("pk", flat=True))
    return render(
        request,
        "evaluation/pilots/list.html",
        {
            "page": page,
            "closed": closed.count(),
            "benchmark": benchmark,
            "benchmarks": benchmarks,
            "why_not_start": why_not("pilot", benchmark),
            "startable": [item for item in benchmarks if benchmark in (None, item) and item.pk in startable],
        },
    )


def _page(request: SignedInRequest, row: Pilot) -> dict[str, Any]:
    progress, scores = pilot_progress(row), read_scores(row)
    page = Paginator(visibility.personas_of(row), PERSONAS_PER_PAGE).get_page(request.GET.get("page"))
    sessions = list(visibility.sessions_of(row).filter(run__persona_revision__persona__in=list(page)))
    is_running = row.state in RUNNING
    actions = actions_in(request.user, row.benchmark)
    return {
        "pilot": row,
        "progress": progress,
        "page": page,
        "personas": session_matrix(sessions),
        "runs": range(1, row.runs_wanted + 1),
        "is_running": is_running,
        "no_worker": is_running and not progress.turns and timezone.now() - row.created_at > WORKER_TIMEOUT,
        "scores": scores,
        "scores_by_mode": [(mode, scores[mode]) for mode in ScoringMode] if scores else [],
        "may_cancel": "pilot" in actions and (is_running or row.state == Pilot.State.STOPPED),
        "may_retry": "pilot" in actions and progress.stopped and row.state != Pilot.State.CANCELLED,
        "may_audit": "plan_audit" in actions and not is_running,
        "may_start": "pilot" in actions,
        "audits": audits_of(row),
        "rounds": [] if is_running else summarize_rounds(row),
        "choice": scoring_choice(row),
        "older_scripts": [] if is_running else sessions_graded_by_older_scripts(row),
    }
