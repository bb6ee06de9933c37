"""Results of a benchmark: leaderboard, breakdowns, statuses, comparison of two agents, exports."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.audits.blindness import open_pilots
from evaluation.forms.results import CompareForm, ResultsForm
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results, compute_results, results_document
from evaluation.results.pages import board_rows, breakdown_tables, session_list, status_rows
from evaluation.results.tables import render_tables, tables_of
from studio.access import SignedInRequest, find_benchmark, may
from studio.models import Benchmark

DOWNLOADS = [("csv", "CSV"), ("json", "JSON"), ("markdown", "Markdown"), ("latex", "LaTeX")]
TYPES = {"csv": "text/csv", "markdown": "text/markdown", "latex": "application/x-tex"}
SUFFIXES = {"csv": "csv", "markdown": "md", "latex": "tex", "json": "json"}


@login_required
@require_GET
def results(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark, form = _form(request, slug)
    chosen = compute_results(benchmark, form.chosen)
    if style := form.style:
        return _download(chosen, style)
    mode = form.mode
    board = chosen.board(mode)
    return render(
        request,
        "evaluation/results/results.html",
        {
            "benchmark": benchmark,
            "form": form,
            "mode": mode,
            "modes": list(ScoringMode),
            "board": board_rows(chosen, board, mode),
            "personas": sorted({name for agent in board for name in agent.personas}),
            "statuses": status_rows(chosen),
            "downloads": DOWNLOADS,
            "breakdowns": breakdown_tables(chosen, mode),
            "may_start": may(request.user, benchmark, "pilot"),
        },
    )


@login_required
@require_GET
def result_sessions(request: SignedInRequest, slug: str) -> HttpResponse:
    """The sessions behind a number, and how the agent's Proc and Comp are computed from them."""
    benchmark, form = _form(request, slug)
    chosen = compute_results(benchmark, form.chosen)
    return render(
        request,
        "evaluation/results/sessions.html",
        {"benchmark": benchmark, "form": form, "mode": form.mode, "list": session_list(chosen, request.GET, form.mode)},
    )


@login_required
@require_GET
def compare(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark, form = _form(request, slug)
    chosen = compute_results(benchmark, form.chosen)
    choice = CompareForm(request.GET, agents=sorted(set(chosen.agents.values())))
    comparisons = None
    if choice.is_valid():
        first, second = choice.cleaned_data["first"], choice.cleaned_data["second"]
        comparisons = chosen.comparisons(first, second, form.mode)
    return render(
        request,
        "evaluation/results/compare.html",
        {"benchmark": benchmark, "form": form, "choice": choice, "mode": form.mode, "comparisons": comparisons},
    )


def _form(request: SignedInRequest, slug: str) -> tuple[Benchmark, ResultsForm]:
    benchmark = find_benchmark(request.user, slug)
    return benchmark, ResultsForm(request.GET, pilots=list(open_pilots(request.user).filter(benchmark=benchmark)))


def _download(chosen: Results, style: str) -> HttpResponse:
    document = results_document(chosen)
    response: HttpResponse
    if style == "json":
        response = JsonResponse(document, json_dumps_params={"ensure_ascii": False, "indent": 1})
    else:
        text = render_tables(tables_of(document), style)  # type: ignore[arg-type]  # the form knows no other
        response = HttpResponse(text, content_type=f"{TYPES[style]}; charset=utf-8")
    name = f"{chosen.benchmark.slug}-results.{SUFFIXES[style]}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
