"""Pilots: the list, starting one, its page and report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation import visibility
from evaluation.audits.blindness import closed_pilots, find_pilot, open_pilots, record_look
from evaluation.audits.campaigns import audits_of
from evaluation.audits.corrections import corrected_in_pilots
from evaluation.endpoints.connection import learned_sentences
from evaluation.endpoints.tryout import SEATS
from evaluation.engine.budgets import KINDS, Spent
from evaluation.forms.pilots import BenchmarkBudgetForm, BudgetForm, PilotForm, budget_initial, budgets_of, initial_of
from evaluation.judging.judgings import scoring_choice
from evaluation.judging.script_versions import sessions_graded_by_older_scripts
from evaluation.models import ModelCall, ModelEndpoint, Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.pilots.budgets import (
    RAISED,
    BudgetRow,
    benchmark_limits,
    budget_rows,
    models_without_worst_price,
    set_benchmark_budget,
    set_budgets,
    spent_in,
)
from evaluation.pilots.control import ControlError, control_pilot, possible_actions
from evaluation.pilots.estimate import CostEstimate, estimate_pilot
from evaluation.pilots.matrix import calls_by_role, pilot_progress, saved_by_taking_over, session_matrix
from evaluation.pilots.plans import PersonaPlan, plan_pilot, said_in_requests, tasks_of_sessions
from evaluation.pilots.start import options_of, start_pilot
from evaluation.pilots.warnings import warnings_before
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.versions import ProtocolName
from evaluation.protocol.voice import UserStyle
from evaluation.results.comparison import summarize_rounds
from evaluation.results.pilot_report import ablation_rows, answers_said_verbatim, pilot_report
from evaluation.results.scores import read_scores, refresh_scores
from evaluation.store.usage import Use, as_ran, use_by_part
from evaluation.transcripts.waiting import with_waiting
from studio.access import (
    SignedInRequest,
    actions_in,
    benchmarks_allowing,
    benchmarks_for,
    find_benchmark,
    why_not,
)
from studio.domain.options import OptionsError
from studio.files.downloads import made_here
from studio.models import Benchmark

State = Session.State
PER_PAGE = 50
PERSONAS_PER_PAGE = 5
WORKER_TIMEOUT = timedelta(seconds=30)
START_WITH = ("persona", "kind", "mode", "base", "user_model", "judge", "runs", "protocol")
"""What an address of the start page can fill in."""
RUNNING = (Pilot.State.WAITING, Pilot.State.RUNNING)
MESSAGES = {
    "pause": "Paused. Calls under way are still recorded; nothing more is sent.",
    "resume": "Resumed. Answered calls are not repeated.",
    "cancel": "Cancelled. Finished sessions are kept.",
    "retry": "Trying again. Answered calls are not repeated.",
}


@require_GET
def pilots(request: SignedInRequest) -> HttpResponse:
    return _list(request, None)


@require_GET
def benchmark_pilots(request: SignedInRequest, slug: str) -> HttpResponse:
    return _list(request, slug)


@require_http_methods(["GET", "POST"])
def pilot_new(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug, "pilot")
    pilots = open_pilots(request.user)
    form = PilotForm(request.POST or None, benchmark=benchmark, pilots=pilots, initial=_offered(request, benchmark))
    if request.method == "POST" and form.is_valid():
        with form.rejecting():
            with transaction.atomic():
                started = [start_pilot(benchmark, each, by=request.user) for each in form.options_of_each()]
            if len(started) == 1:
                return redirect(started[0])
            messages.success(request, f"{len(started)} pilots started, one for each agent.")
            return redirect("evaluation:benchmark_pilots", slug)
    costs = visibility.mean_session_costs()
    endpoints = list(ModelEndpoint.objects.usable_in(benchmark))
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


def _offered(request: SignedInRequest, benchmark: Benchmark) -> dict[str, Any]:
    """What the form begins with: the settings of the pilot ``like``, and what else the address says."""
    offered: dict[str, Any] = {}
    if (like := request.GET.get("like", "")).isdecimal():
        pilot = open_pilots(request.user).filter(benchmark=benchmark, number=int(like[:9])).first()
        offered = initial_of(options_of(pilot)) if pilot else {}
    offered |= {name: request.GET[name] for name in START_WITH if name in request.GET}
    lists = {"tasks": request.GET.getlist("task"), "agent": request.GET.getlist("agent")}
    return offered | {name: values for name, values in lists.items() if values}


@require_GET
def pilot(request: SignedInRequest, pk: int) -> HttpResponse:
    """For htmx only the live part, which stops polling once the pilot has ended."""
    row = find_pilot(request.user, pk)
    template = "evaluation/pilots/pilot.html"
    if request.htmx and not request.htmx.boosted:
        template += "#live"
    return render(request, template, _page(request, row))


@require_POST
def pilot_step(request: SignedInRequest, pk: int, step: str) -> HttpResponse:
    row = find_pilot(request.user, pk, "pilot")
    try:
        row = control_pilot(row.pk, step, by=request.user, everything=bool(request.POST.get("everything")))
    except ControlError as error:
        messages.error(request, str(error))
    else:
        idle = step == "retry" and row.state not in RUNNING
        messages.success(request, "No session is left to retry." if idle else MESSAGES[step])
    return redirect(row)


@require_POST
def pilot_budget(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_pilot(request.user, pk, "pilot")
    form = BudgetForm(request.POST)
    if not form.is_valid():
        return render(request, "evaluation/pilots/pilot.html", _page(request, row) | {"budget_form": form})
    set_budgets(row, budgets_of(form.cleaned_data), by=request.user)
    if row.state == Pilot.State.PAUSED and row.reason == RAISED:
        messages.success(request, "Budget raised. Resume the pilot to go on.")
    else:
        messages.success(request, "Budget changed.")
    return redirect(row)


@require_POST
def benchmark_budget(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug, "pilot")
    form = BenchmarkBudgetForm(request.POST)
    if not form.is_valid():
        return _list(request, slug, form)
    set_benchmark_budget(benchmark, {kind: form.cleaned_data[kind] or 0 for kind in KINDS}, by=request.user)
    messages.success(request, "Budget changed.")
    return redirect("evaluation:benchmark_pilots", slug)


@require_GET
def pilot_estimate(request: SignedInRequest, slug: str) -> HttpResponse:
    """For the form of a new pilot, as it is filled in."""
    benchmark = find_benchmark(request.user, slug, "pilot")
    form = PilotForm(request.GET, benchmark=benchmark, pilots=open_pilots(request.user))
    form.is_valid()
    data = form.cleaned_data
    estimates, problem, warnings, said = (
        list[tuple[ModelEndpoint, CostEstimate]](),
        "",
        list[str](),
        list[tuple[str, str, int]](),
    )
    plans: list[PersonaPlan] = []
    if data.get("agent") and data.get("runs") and not form.errors.get("tasks"):
        mode, base = PilotMode(data.get("mode") or PilotMode.EPISODE), data.get("base")
        try:
            plans = plan_pilot(benchmark, mode, data.get("persona", ""), data.get("tasks", ()), base)
        except OptionsError as error:
            problem = error.message
        else:
            runs = base.runs_wanted if base else data["runs"]
            taken = runs * sum(len(plan.plan.taken) for plan in plans)
            others: dict[str, ModelEndpoint] = {role: data[role] for role in ROLES[1:] if data.get(role)}
            protocol = base.protocol if base else data.get("protocol") or ProtocolName.PAPER
            limits = ({"cost": data.get("cost") or 0}, *budgets_of(data).values(), benchmark_limits(benchmark.pk))
            for agent in data["agent"]:
                chosen = {"agent": agent} | others
                estimate = estimate_pilot(benchmark, tasks_of_sessions(plans), runs, chosen, taken, protocol)
                estimates.append((agent, estimate))
                warnings += warnings_before(chosen, plans, form.params, limits)
            said = [
                (persona, task, position)
                for persona, tasks in said_in_requests(plans).items()
                for task, positions in tasks.items()
                for position in positions
            ]
    return render(
        request,
        "evaluation/pilots/estimate.html",
        {
            "estimates": estimates,
            "problem": problem,
            "warnings": [(f"{warning.partition('. ')[0]}.", warning) for warning in dict.fromkeys(warnings)],
            "said": said,
            "rest": form.rest,
            "slug": slug,
            "personas": [plan.persona.persona for plan in plans],
        },
    )


@require_GET
def pilot_usage(request: SignedInRequest, pk: int) -> HttpResponse:
    """Tokens and cost by role: a part of the pilot's page, fetched when it is opened."""
    row = find_pilot(request.user, pk)
    used = use_by_part(as_ran(ModelCall.objects.filter(session__run__pilot=row)))
    names = {"agent": row.endpoint("agent").label, "user": row.user_model_name, "judge": row.judge_name}
    rows = [(part, names[part], use) for part, use in used.items() if use.calls]
    total = sum(used.values(), start=Use())
    return render(request, "evaluation/pilots/usage.html", {"rows": rows, "total": total})


@require_GET
def pilot_json(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_pilot(request.user, pk)
    report = json.dumps(pilot_report(row), ensure_ascii=False, indent=2)
    return made_here(f"{row.benchmark.slug}-pilot-{row.number}.json", report)


def _list(request: SignedInRequest, slug: str | None, budget_form: BenchmarkBudgetForm | None = None) -> HttpResponse:
    rows = visibility.with_counts(open_pilots(request.user)).order_by("-created_at", "-pk")
    closed = Pilot.objects.filter(pk__in=closed_pilots(request.user))
    benchmark = None
    if slug is not None:
        benchmark = find_benchmark(request.user, slug)
        rows, closed = rows.filter(benchmark=benchmark), closed.filter(benchmark=benchmark)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    refresh_scores(page)
    record_look(request.user, page)
    benchmarks = list(benchmarks_for(request.user).order_by("name"))
    startable = set(benchmarks_allowing(request.user, "pilot").values_list("pk", flat=True))
    may_start = benchmark is not None and benchmark.pk in startable
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
            "may_start": may_start,
            "budget": _benchmark_budget(benchmark.pk) if benchmark else [],
            "budget_form": budget_form or BenchmarkBudgetForm(initial=benchmark_limits(benchmark.pk))
            if benchmark and may_start
            else None,
        },
    )


def _learned(row: Pilot) -> list[tuple[str, list[str]]]:
    """By part: what its service was found to refuse, so that it ran otherwise than it was set."""
    facts = row.config.get("learned") or {}
    return [(SEATS[role], sentences) for role in ROLES if (sentences := learned_sentences(facts.get(role) or {}))]


def _limits_dollars(pilot: Pilot, shared: Iterable[BudgetRow]) -> bool:
    own = any(limits.get("cost") for limits in pilot.budgets.values())
    return own or any(row.kind == "cost" for row in shared)


def _benchmark_budget(benchmark_id: int) -> list[BudgetRow]:
    limits = benchmark_limits(benchmark_id)
    return budget_rows(limits, spent_in(Session.objects.filter(run__pilot__benchmark=benchmark_id))) if limits else []


def _page(request: SignedInRequest, row: Pilot) -> dict[str, Any]:
    progress, scores = pilot_progress(row), read_scores(row)
    page = Paginator(visibility.personas_of(row), PERSONAS_PER_PAGE).get_page(request.GET.get("page"))
    sessions = with_waiting(Session.objects.of(row).named().filter(run__persona_revision__persona__in=list(page)))
    is_running = row.state in RUNNING
    actions = actions_in(request.user, row.benchmark)
    stopped, failed = progress.number(State.ERROR), progress.number(State.FAILED)
    possible = possible_actions(row, stopped=stopped, failed=failed)
    rounds = [] if is_running else summarize_rounds(row)
    is_late = timezone.now() - row.created_at > WORKER_TIMEOUT
    return {
        "pilot": row,
        "progress": progress,
        "page": page,
        "personas": session_matrix(sessions),
        "saved": saved_by_taking_over(row),
        "learned": _learned(row),
        "said_verbatim": answers_said_verbatim(row) if row.user_style != UserStyle.VERBATIM else 0,
        "runs": range(1, row.runs_wanted + 1),
        "is_running": is_running,
        "in_flight": calls_by_role(row) if is_running else [],
        "no_worker": is_running and progress.number(State.WAITING) == progress.total and is_late,
        "scores": scores,
        "ablation": ablation_rows(scores),
        "scores_by_mode": [(mode, scores[mode]) for mode in row.terms.modes] if scores else [],
        "budget": budget_rows(row.budgets.get("pilot", {}), Spent(progress.tokens, progress.calls, progress.cost)),
        "session_budget": budget_rows(row.budgets.get("session", {}), Spent()),
        "benchmark_budget": (shared := _benchmark_budget(row.benchmark_id)),
        "loose": models_without_worst_price(row) if _limits_dollars(row, shared) else [],
        "budget_form": BudgetForm(initial=budget_initial(row.budgets)) if "pilot" in actions else None,
        "steps": possible if "pilot" in actions else frozenset(),
        "may_audit": "plan_audit" in actions and not is_running and row.state != Pilot.State.PAUSED,
        "may_start": "pilot" in actions,
        "may_release": "release" in actions,
        "audits": audits_of(row),
        "corrected": corrected_in_pilots([row]),
        "rounds": rounds,
        "is_judging": any(each.is_going_on for each in rounds),
        "choice": scoring_choice(row),
        "older_scripts": [] if is_running else sessions_graded_by_older_scripts(row),
    }
