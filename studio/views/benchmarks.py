"""Benchmarks: list, overview, statistics, gaps, history and findings."""

from __future__ import annotations

from copy import copy
from itertools import islice

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render

from studio import access
from studio.access import SignedInRequest
from studio.activity.feed import latest_events, recent_events
from studio.domain.statistics import sum_figures
from studio.findings.deferred import unchecked_tasks
from studio.findings.queries import OpenFindings
from studio.findings.waivers import doubted_rules
from studio.forms.benchmarks import BenchmarkForm, ChangedElsewhere, CreditsForm, changed_elsewhere, seen
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Benchmark
from studio.reports.gaps import gaps_by_persona, other_gaps, personas_of
from studio.reports.progress import by_latest_activity, progress_grids, progress_of
from studio.reports.statistics import categories_of, counts_of, figures_of, skills_of, tools_of
from studio.views.members import members_of
from studio.views.pages import benchmark_page, page_of, show

PERSONAS_PER_PAGE = 25
MAX_GAPS = 6
"""Shown on the overview."""
MEAN_FIGURES = ("intents", "local", "persistent", "rubric", "rule", "dependencies", "files")


def benchmarks(request: SignedInRequest) -> HttpResponse:
    newest = by_latest_activity(access.benchmarks_for(request.user))
    page = Paginator(newest, 50).get_page(request.GET.get("page"))
    return render(
        request, "studio/benchmarks/list.html", {"page": page, "benchmarks": progress_of(list(page.object_list))}
    )


def create(request: SignedInRequest) -> HttpResponse:
    form = BenchmarkForm(request.POST or None, initial={"taxonomy": ensure_taxonomy(), "validated_releases": True})
    if request.method == "POST" and form.is_valid():
        benchmark = access.create_benchmark(by=request.user, **form.cleaned_data)
        messages.success(request, f"“{benchmark}” created. Add its first persona, or import one.")
        return redirect(benchmark)
    return render(request, "studio/benchmarks/form.html", {"form": form, "errors": len(form.errors)})


def edit(request: SignedInRequest, slug: str) -> HttpResponse:
    theirs: ChangedElsewhere | None = None
    with transaction.atomic():
        benchmark = access.find_benchmark(request.user, slug, lock=request.method == "POST")
        access.require(request.user, benchmark, "manage")
        now = _settings_forms(benchmark, None)
        forms = _settings_forms(benchmark, request.POST or None)
        if request.method == "POST":
            theirs = changed_elsewhere(request.POST, forms, now)
            if theirs is not None:
                forms = _settings_forms(benchmark, theirs.data)
            elif sum(not each.is_valid() for each in forms) == 0:
                form, credits_form = forms
                form.instance.set_credits(credits_form.options())
                form.save()
                messages.success(request, "Saved.")
                return redirect(form.instance)
    form, credits_form = forms
    context = {
        "form": form,
        "credits": credits_form,
        "errors": len(form.errors) + len(credits_form.errors),
        "theirs": theirs,
        "seen": seen(now),
    }
    return show(request, benchmark, "studio/benchmarks/form.html", context, status=409 if theirs else 200)


def _settings_forms(benchmark: Benchmark, data: QueryDict | None) -> tuple[BenchmarkForm, CreditsForm]:
    row = copy(benchmark)  # validating a model form writes to its instance
    return BenchmarkForm(data, instance=row), CreditsForm(data, initial=benchmark.credits.model_dump(mode="json"))


@benchmark_page()
def benchmark(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    page = Paginator(range(benchmark.personas.count()), PERSONAS_PER_PAGE).get_page(request.GET.get("page"))
    by_persona = gaps_by_persona(benchmark, personas_of(benchmark))
    to_fix = ((row.persona, gap) for row in by_persona for gap in row.gaps if not gap.unfinished)
    (progress,) = progress_grids([benchmark], limit=PERSONAS_PER_PAGE, start=max(0, page.start_index() - 1))
    return show(
        request,
        benchmark,
        "studio/benchmarks/benchmark.html",
        {
            "page": page,
            "progress": progress,
            "total": counts_of(benchmark),
            "gaps": list(islice(to_fix, MAX_GAPS)),
            "to_fix": sum(not gap.unfinished for row in by_persona for gap in row.found),
            "unfinished": sum(any(gap.unfinished for gap in row.found) for row in by_persona),
            "members": members_of(benchmark),
            "events": latest_events(benchmark, most=8),
        },
    )


@benchmark_page()
def statistics(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Tables 2 to 5 of the paper, for this benchmark."""
    personas = personas_of(benchmark)
    figures = figures_of(personas)
    total = sum_figures(figures.values())
    tools = tools_of(benchmark)
    category_rows, without_category = categories_of(benchmark)
    return show(
        request,
        benchmark,
        "studio/reports/statistics.html",
        {
            "rows": [(persona, figures[persona.pk]) for persona in personas],
            "total": total,
            "means": [total.per_task(name) for name in MEAN_FIGURES],
            "tools": tools,
            "tool_count": sum(len(group) for _, group in tools),
            "skills": skills_of(benchmark),
            "categories": category_rows,
            "without_category": without_category,
            "most": max((row.tasks for row in category_rows), default=0),
        },
    )


@benchmark_page()
def gaps(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    personas = {persona.pk: persona for persona in personas_of(benchmark)}
    by_persona = gaps_by_persona(benchmark, personas.values())
    return show(
        request,
        benchmark,
        "studio/reports/gaps.html",
        {
            "plan": benchmark.plan,
            "page": Paginator(by_persona, PERSONAS_PER_PAGE).get_page(request.GET.get("page")),
            "personas": len(personas),
            "others": other_gaps(benchmark, personas),
        },
    )


@benchmark_page()
def history(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    events = recent_events(access.benchmarks_for(request.user).filter(pk=benchmark.pk))
    page = Paginator(events, 50).get_page(request.GET.get("page"))
    return show(request, benchmark, "studio/activity/history.html", {"page": page})


@benchmark_page()
def findings(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    severity = request.GET.get("severity", "")
    severity = severity if severity in ("error", "warning", "hint") else ""
    rows = OpenFindings(benchmark, severity)
    return show(
        request,
        benchmark,
        "studio/findings/list.html",
        {
            "severity": severity,
            "total": rows.totals,
            "unchecked": unchecked_tasks(benchmark) if rows.totals["error"] else 0,
            "doubted": doubted_rules(benchmark) if access.may(request.user, benchmark, "manage") else (),
            "page": page_of(rows, 50, request.GET.get("page")),
            "query": f"severity={severity}" if severity else "",
        },
    )
