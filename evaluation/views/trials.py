"""Trying before a pilot: a grader script, a task on a model, whether tasks can be done, how the user behaves."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.audits.blindness import open_pilots, record_look
from evaluation.models import Session
from evaluation.pilots.start import start_pilot
from evaluation.protocol.preview import preview_user
from evaluation.transcripts.session import load_transcript
from evaluation.trials import examples
from evaluation.trials.on_model import newest_session, plan_try
from evaluation.trials.outlook import outlook
from evaluation.trials.trial import SandboxUnavailableError, kernel_bounds_memory, try_script, why_unavailable
from evaluation.views.pilots import RUNNING
from studio import access
from studio.access import SignedInRequest, find_task, may, require
from studio.domain.graders import GraderReport
from studio.domain.options import OptionsError
from studio.domain.storable import normalize_newlines
from studio.drafts.autosave import EditorKey, autosaved_text
from studio.drafts.load import load_tasks
from studio.personas.files import FileVersions
from studio.personas.scripts import MAX_SCRIPT, SCRIPTS, tasks_graded_by
from studio.views.personas.scripts import ScriptPage, find_script, keys_of


@require_http_methods(["GET", "POST"])
def script_try(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The pane beside the editor. POST runs the text in the editor; only the example is saved."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "rehearse")
    script = find_script(persona, pk)
    tasks = tasks_graded_by(persona, script.path)
    stored = FileVersions(SCRIPTS, persona, script.path)
    source = normalize_newlines(request.POST.get("source") or f"{stored.at(stored.newest).source}\n")[:MAX_SCRIPT]
    typed, selected = request.POST.get("example"), request.POST.get("history", "example")
    can_save = access.may(request.user, persona.benchmark, "edit")
    context: dict[str, Any] = {}
    if request.method == "POST":
        example = normalize_newlines(typed or "")
        if typed is not None and can_save:
            examples.save_example(script, example, by=request.user)
        try:
            history = examples.load_history(selected, example, source, tasks, request.user)
            trial = try_script(source, history)
        except (examples.ExampleError, SandboxUnavailableError) as error:
            context["problem"] = str(error)
        else:
            keys = keys_of(GraderReport(sha256=script.blob_id, keys=tuple(trial.values) or None), tasks)
            context |= {
                "trial": trial,
                "rows": [(row, trial.values[row.key]) for row in keys],
                "earned": sum(trial.values.values()),
                "history": history,
                "history_text": json.dumps(history, ensure_ascii=False, indent=2),
            }
        if request.htmx:
            return render(request, "evaluation/trials/trial.html", context)
    tools = persona.tools[:4]
    context |= {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": script,
        "histories": examples.list_histories(script, source, tasks, request.user),
        "selected": selected,
        "example": typed if typed is not None else examples.load_example(script, source, tools),
        "can_save": can_save,
        "unavailable": why_unavailable(),
        "kernel_bounds_memory": kernel_bounds_memory(),
    }
    if request.htmx:
        return render(request, "evaluation/trials/form.html", context)
    page = ScriptPage(request, persona, str(pk))
    if request.method == "POST" and can_save:
        page.autosave(request.POST)
    return render(request, "studio/personas/script.html", page.initial_context() | context)


UNDER_WAY = (Session.State.WAITING, Session.State.RUNNING)


@require_http_methods(["GET", "POST"])
def model_try(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """What a try would run and cost, and what came of the newest; POST starts one. For htmx only that."""
    task = find_task(request.user, slug, user_id, pk)
    benchmark, pilots = task.persona.benchmark, open_pilots(request.user)
    may_start = may(request.user, benchmark, "pilot")
    context: dict[str, Any] = {"task": task, "persona": task.persona, "benchmark": benchmark, "may_start": may_start}
    if request.method == "POST":
        require(request.user, benchmark, "pilot")
        try:
            start_pilot(benchmark, plan_try(task, pilots, request.user).options, by=request.user)
        except OptionsError as error:
            context["refused"] = error.message
        else:
            if not request.htmx:
                return redirect("evaluation:model_try", slug, user_id, pk)
    session = newest_session(task, pilots)
    if session is not None:
        record_look(request.user, [session.pilot])
        context |= {
            "session": session,
            "transcript": load_transcript(session),
            "is_under_way": session.state in UNDER_WAY and session.pilot.state in RUNNING,
        }
    if may_start and not context.get("is_under_way"):
        try:
            context["possible"] = plan_try(task, pilots, request.user)
        except OptionsError as error:
            context["problem"] = error.message
        context["is_unsaved"] = autosaved_text(EditorKey(task=task), request.user) is not None
    part = "#try" if request.htmx else ""
    return render(request, f"evaluation/trials/model_try.html{part}", context)


@require_safe
def can_be_done(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    found = outlook(persona)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "prospects": found,
        "impossible": sum(bool(each.obstacles) for each in found),
        "told_earlier": sum(bool(each.told) for each in found),
        "remedies": {obstacle.remedy for each in found for obstacle in each.obstacles},
        "addresses": {task.task_id: task.get_absolute_url() for task in persona.tasks.only("task_id", "persona")},
    }
    return render(request, "evaluation/trials/can_be_done.html", context)


def user_preview(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """``?task=`` selects a task; by default the first with hidden intents."""
    persona = access.find_persona(request.user, slug, user_id)
    rows = list(persona.tasks.filter(position__isnull=False).order_by("position"))
    selected = request.GET.get("task", "")
    specs = load_tasks(row.pk for row in rows)
    chosen = next((row for row in rows if str(row.pk) == selected), None)
    chosen = chosen or next((row for row in rows if specs[row.pk].intents), rows[0] if rows else None)
    for row in rows:
        row.persona = persona
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "rows": rows,
        "task": chosen,
        "preview": preview_user(specs[chosen.pk]) if chosen else None,
        "intents": specs[chosen.pk].intents if chosen else (),
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "evaluation/personas/user_preview.html", context)
