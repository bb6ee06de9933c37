"""Running a grader script from its editor."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from evaluation.trials import examples
from evaluation.trials.trial import SandboxUnavailableError, kernel_bounds_memory, try_script, why_unavailable
from studio import access
from studio.access import SignedInRequest
from studio.domain.graders import GraderReport
from studio.domain.storable import normalize_newlines
from studio.personas.files import FileVersions
from studio.personas.scripts import MAX_SCRIPT, SCRIPTS, tasks_graded_by
from studio.views.personas.scripts import ScriptPage, find_script, keys_of


@login_required
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
    request.room = "benchmarks"
    page = ScriptPage(request, persona, str(pk))
    if request.method == "POST" and can_save:
        page.autosave(request.POST)
    return render(request, "studio/personas/script.html", page.initial_context() | context)
