"""Pages of validation: the matrix of a benchmark, and the probes of a task with its reference solution."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.feasibility.kinds import KINDS
from evaluation.forms.probes import BudgetForm, SolutionForm, ValidationForm
from evaluation.models import Session, Validation
from evaluation.pilots.budgets import spent_in
from evaluation.probes.cost import told_before
from evaluation.probes.solutions import record_solution, solution_of, write_solution
from evaluation.probes.standing import standings, standings_of
from evaluation.probes.validation import (
    ValidationOptions,
    cancel_validation,
    resume_validation,
    start_validation,
)
from evaluation.views.rehearsals import find_own_rehearsal
from studio import access
from studio.access import SignedInRequest
from studio.domain.options import OptionsError
from studio.models import Blob


@require_http_methods(["GET", "POST"])
def validation(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug)
    wanted = {name: request.GET.get(name, "") for name in ("persona", "task", "agent", "judge")}
    chosen = {name: text for name, text in wanted.items() if text}
    form = ValidationForm(request.POST or None, benchmark=benchmark, initial=chosen)
    problem = ""
    if request.method == "POST":
        access.require(request.user, benchmark, "pilot")
        if form.is_valid():
            try:
                start_validation(benchmark, form.options(), by=request.user)
                return redirect(request.path)
            except OptionsError as error:
                problem = error.message
    last = Validation.objects.filter(benchmark=benchmark).select_related("benchmark", "agent", "judge").first()
    context = {
        "benchmark": benchmark,
        "can": access.actions_in(request.user, benchmark),
        "form": form,
        "problem": problem,
        # what is fetched again shows only how far it is, but for another model what it takes
        "plan": told_before(benchmark, ValidationOptions.read(wanted)) if chosen or not request.htmx else "",
        "kinds": KINDS.values(),
        "rows": [_cells(each) for each in standings(benchmark)],
        "last": last,
        **(_progress(last) if last else {}),
    }
    status = 422 if form.errors or problem else 200
    return render(request, "evaluation/validation/matrix.html", context, status=status)


def _cells(standing: Any) -> dict[str, Any]:
    found = {each.kind.name: each for each in standing.kinds}
    return {"standing": standing, "cells": [(kind, found.get(name)) for name, kind in KINDS.items()]}


def _progress(row: Validation) -> dict[str, Any]:
    return {
        "done": row.probes.filter(items__isnull=False).count(),
        "all": row.probes.count(),
        "spent": spent_in(Session.objects.filter(probe__validation=row)),
    }


@require_POST
def validation_step(request: SignedInRequest, slug: str, step: str) -> HttpResponse:
    """``stop`` or ``resume`` the last validation."""
    benchmark = access.find_benchmark(request.user, slug, "pilot")
    row = Validation.objects.filter(benchmark=benchmark).first()
    try:
        if row is not None and step == "stop":
            cancel_validation(row)
        elif row is not None:
            form = BudgetForm(request.POST)
            if not form.is_valid():
                raise OptionsError("cost", "Write the budget as a number of US dollars or tokens; 0 is no limit.")
            calls = {name: limit for name, limit in row.budget.items() if name == "calls"}
            resume_validation(row, budget=form.options().budget | calls)
    except OptionsError as error:
        messages.error(request, error.message)
    return redirect("evaluation:validation", slug)


@require_http_methods(["GET", "POST"])
def task_validation(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What each probe of a task earned, item by item; a reference solution is written here. For htmx one line."""
    task = access.find_task(request.user, slug, user_id, pk)
    if request.htmx and request.method == "GET":
        standing = next(iter(standings_of(task.persona, task.task_id)), None)
        line = {"task": task, "persona": task.persona, "benchmark": task.persona.benchmark, "standing": standing}
        return render(request, "evaluation/validation/line.html", line)
    solution = solution_of(task)
    initial = {"reply": solution.reply, "calls": json.dumps(solution.calls, indent=1)} if solution else {}
    form = SolutionForm(request.POST or None, request.FILES or None, initial=initial)
    if request.method == "POST":
        access.require(request.user, task.persona.benchmark, "edit")
        if form.is_valid():
            before, keeps = solution.files if solution else {}, form.kept(request)
            kept = {path: sha256 for path, sha256 in before.items() if path in keeps}
            with form.rejecting():
                turn = form.turn()
                stored = dict(zip(form.contents, Blob.objects.store(list(form.contents.values())), strict=True))
                write_solution(task, replace(turn, files=kept | stored), by=request.user)
                messages.success(request, "The solution is stored. Its rules are tried in the background.")
                return redirect(request.path)
    standing = next(iter(standings_of(task.persona, task.task_id)), None)
    context = {
        "task": task,
        "persona": task.persona,
        "benchmark": task.persona.benchmark,
        "standing": standing,
        "solution": solution,
        "form": form,
        "can": access.actions_in(request.user, task.persona.benchmark),
    }
    return render(request, "evaluation/validation/task.html", context, status=422 if form.errors else 200)


@require_POST
def solution_from_rehearsal(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_own_rehearsal(request, pk)
    task = row.session.revision.task
    access.require(request.user, task.persona.benchmark, "edit")
    try:
        record_solution(row, by=request.user)
    except OptionsError as error:
        messages.error(request, error.message)
        return redirect(row)
    messages.success(request, "This rehearsal is the reference solution now.")
    return redirect("evaluation:task_validation", task.persona.benchmark.slug, task.persona.user_id, task.pk)
