"""Results of a benchmark: leaderboard, breakdowns, statuses, comparison of two agents, exports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from evaluation.audits.blindness import find_pilot, open_pilots, record_look
from evaluation.audits.corrections import corrected_in_pilots
from evaluation.forms.results import CompareForm, ResultsForm
from evaluation.models import ResultsView
from evaluation.results.benchmark_results import Results, ResultsError, compute_results
from evaluation.results.compared import comparison_document, comparison_numbers, comparison_tables
from evaluation.results.document import figure_document, results_document
from evaluation.results.eee import eee_zip
from evaluation.results.figures.catalogue import build_figure
from evaluation.results.figures.figure import Figure
from evaluation.results.figures.pages import comparison_html, figure_body, figure_lists, item_notes
from evaluation.results.pages import leaderboard_html, session_list
from evaluation.results.selection import address_of_view, save_view, set_tags
from evaluation.results.tables import ResultsTable, number_tables, render_tables, tables_of, zip_of
from studio.access import SignedInRequest, find_benchmark, find_task, may, require
from studio.drafts.load import load_task
from studio.files.downloads import made_here
from studio.models import Benchmark

DOWNLOADS = [("csv", "CSV"), ("json", "JSON"), ("markdown", "Markdown"), ("latex", "LaTeX")]
EEE = ("eee", "Every Eval Ever")
"""Of agents as a whole, not of figures."""
FIRST_FIGURE = "proc_and_comp"
"""With which the results open."""
SUFFIXES = {"csv": "csv", "markdown": "md", "latex": "tex", "json": "json"}


@require_GET
def results(request: SignedInRequest, slug: str) -> HttpResponse | FileResponse:
    benchmark, form = _form(request, slug)
    chosen = compute_results(benchmark, form.chosen)
    if style := form.style:
        return _download(chosen, style)
    if request.GET.get("format") == EEE[0]:
        return FileResponse(eee_zip(chosen), as_attachment=True, filename=f"{benchmark.slug}-eee.zip")
    figure = build_figure(chosen, FIRST_FIGURE, form.mode)
    context = {
        "figure": figure,
        "body": figure_body(chosen, figure, form.mode, form.address) if figure.rows else "",
        "leaderboard": leaderboard_html(chosen, form.mode, form.address),
        "downloads": [*DOWNLOADS, EEE],
        **_saved(request, benchmark),
    }
    return _page(request, "results", benchmark, form, context)


@require_GET
def result_sessions(request: SignedInRequest, slug: str) -> HttpResponse:
    """The sessions behind a number, and how the agent's Proc and Comp are computed from them."""
    benchmark, form = _form(request, slug)
    chosen = compute_results(benchmark, form.chosen)
    context = {
        "here": "Sessions",
        "scripted": chosen.scripted_agents,
        "list": session_list(chosen, request.GET, form.mode),
    }
    return _page(request, "sessions", benchmark, form, context)


@require_GET
def compare(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark, form = _form(request, slug, ranked=False)
    chosen = compute_results(benchmark, form.chosen)
    choice = CompareForm(request.GET, sides={side: chosen.label_of(side) for side in chosen.sides})
    comparison = ""
    if choice.is_valid():
        sides = choice.cleaned_data["first"], choice.cleaned_data["second"]
        if form.style:
            document = comparison_document(chosen, *sides, form.mode)
            name = f"{benchmark.slug}-comparison-{form.mode}"
            if form.style == "csv":
                return made_here(f"{name}-csv.zip", zip_of(comparison_numbers(document)))
            return _file(document, comparison_tables(document), form.style, name)
        comparison = comparison_html(chosen, *sides, form.mode)
    context = {"here": "Compare", "choice": choice, "comparison": comparison, "downloads": DOWNLOADS}
    return _page(request, "compare", benchmark, form, context)


@require_GET
def charts(request: SignedInRequest, slug: str) -> HttpResponse:
    """One figure: its chart, its table, its downloads."""
    benchmark, form = _form(request, slug)
    chosen = compute_results(benchmark, form.chosen)
    figure = build_figure(chosen, form.figure_name, form.mode)
    if form.style:
        return _download_figure(chosen, figure, form)
    context = {
        "here": "Charts",
        "hidden": {"figure": figure.name},
        "lists": figure_lists(form.address_of_figure),
        "figure": figure,
        "body": figure_body(chosen, figure, form.mode, form.address) if figure.rows else "",
        "downloads": DOWNLOADS,
        **_saved(request, benchmark),
    }
    return _page(request, "charts", benchmark, form, context)


@require_GET
def item_figures(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What stands beside the rows of a task's editor."""
    task = find_task(request.user, slug, user_id, pk)
    benchmark, form = _form(request, slug)
    notes = item_notes(compute_results(benchmark, form.chosen), form.mode, user_id, load_task(task))
    figure = f"{reverse('evaluation:results_charts', args=[slug])}?{form.address}&figure=items"
    return render(request, "evaluation/results/item_figures.html", {"notes": notes, "figure": figure})


def _form(request: SignedInRequest, slug: str, *, ranked: bool = True) -> tuple[Benchmark, ResultsForm]:
    benchmark = find_benchmark(request.user, slug)
    pilots = list(open_pilots(request.user).filter(benchmark=benchmark))
    form = ResultsForm(request.GET, pilots=pilots, ranked=ranked)
    record_look(request.user, form.chosen)
    return benchmark, form


def _page(
    request: SignedInRequest, name: str, benchmark: Benchmark, form: ResultsForm, more: dict[str, Any]
) -> HttpResponse:
    corrected = corrected_in_pilots(form.chosen)
    context = {"benchmark": benchmark, "form": form, "mode": form.mode, "corrected": corrected, **more}
    return render(request, f"evaluation/results/{name}.html", context)


def _saved(request: SignedInRequest, benchmark: Benchmark) -> dict[str, Any]:
    return {
        "views": list(ResultsView.objects.filter(benchmark=benchmark).select_related("created_by", "benchmark")),
        "may_start": may(request.user, benchmark, "pilot"),
        "may_release": may(request.user, benchmark, "release"),
    }


def _download(chosen: Results, style: str) -> HttpResponse:
    document = results_document(chosen)
    name = f"{chosen.benchmark.slug}-results"
    if style == "csv":
        return made_here(f"{name}-csv.zip", zip_of(number_tables(document)))
    return _file(document, [] if style == "json" else tables_of(document), style, name)


def _download_figure(chosen: Results, figure: Figure, form: ResultsForm) -> HttpResponse:
    table = figure.raw_table() if form.style == "csv" else figure.table()
    document = figure_document(chosen, figure, form.mode)
    return _file(document, [table], form.style, f"{chosen.benchmark.slug}-{figure.name}-{form.mode}")


def _file(document: Mapping[str, Any], tables: Sequence[ResultsTable], style: str, name: str) -> HttpResponse:
    content = json.dumps(document, ensure_ascii=False, indent=1) if style == "json" else render_tables(tables, style)
    return made_here(f"{name}.{SUFFIXES[style]}", content)


@require_GET
def view_open(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """What was saved, as it is now."""
    return redirect(address_of_view(_find_view(request, slug, number)))


@require_POST
def view_save(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug, "pilot")
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


@require_POST
def view_remove(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    row = _find_view(request, slug, number)
    require(request.user, row.benchmark, "pilot")
    row.delete()
    messages.success(request, f"Removed “{row}”. Releases that have its numbers keep them.")
    return redirect("evaluation:results", slug)


@require_POST
def view_freeze(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """Whether the next releases take its numbers with them."""
    row = _find_view(request, slug, number)
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


@require_POST
def pilot_tags(request: SignedInRequest, pk: int) -> HttpResponse:
    pilot = find_pilot(request.user, pk, "pilot")
    try:
        set_tags(pilot, request.POST.get("tags", ""))
    except ResultsError as error:
        messages.error(request, str(error))
    return redirect(pilot)


def _find_view(request: SignedInRequest, slug: str, number: int) -> ResultsView:
    return get_object_or_404(
        ResultsView.objects.select_related("benchmark"),
        benchmark=find_benchmark(request.user, slug),
        number=min(number, 2**31 - 1),
    )
