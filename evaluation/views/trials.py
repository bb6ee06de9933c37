"""Running a grader script from its editor: choosing a history, and what came of it."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from evaluation.sandbox import SandboxUnavailableError, why_unavailable
from evaluation.trials import examples
from evaluation.trials.trial import try_script
from studio import access
from studio.access import SignedInRequest
from studio.domain.graders import GraderReport
from studio.personas import scripts
from studio.views.personas.script_editor import ScriptPage, find_script, keys_of


@login_required
@require_http_methods(["GET", "POST"])
def script_try(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The pane beside the editor; for htmx by itself. Posted, the text in the editor is run and nothing of it saved
    but the example."""
    persona = access.find_persona(request.user, slug, user_id)
    access.require(request.user, persona.benchmark, "rehearse")
    found = find_script(persona, pk)
    using = scripts.tasks_graded_by(persona, found.path)
    source = scripts.normalize_newlines(request.POST.get("source", scripts.text_of(found.blob) or ""))[
        : scripts.LONGEST
    ]
    typed, chosen = request.POST.get("example"), request.POST.get("history", "example")
    can_keep = access.may(request.user, persona.benchmark, "edit")
    context: dict[str, Any] = {}
    if request.method == "POST":
        example = scripts.normalize_newlines(typed or "")
        if typed is not None and can_keep:
            examples.save_example(found, example, by=request.user)
        try:
            history = examples.history_of(chosen, example, source, using, request.user)
            trial = try_script(source, history)
        except (examples.ExampleError, SandboxUnavailableError) as refusal:
            context["refused"] = str(refusal)
        else:
            keys = keys_of(GraderReport(sha256=found.blob_id, keys=tuple(trial.values) or None), using)
            context |= {
                "trial": trial,
                "rows": [(row, trial.values[row.key]) for row in keys],
                "earned": sum(trial.values.values()),
                "history": history,
                "history_text": json.dumps(history, ensure_ascii=False, indent=2),
            }
        if request.htmx:
            return render(request, "evaluation/trials/trial.html", context)
    tools = list(persona.tool_bindings.values_list("name", flat=True)[:4])
    context |= {
        "persona": persona,
        "benchmark": persona.benchmark,
        "script": found,
        "histories": examples.history_choices(found, source, using, request.user),
        "chosen": chosen,
        "example": typed if typed is not None else examples.example_of(found, source, tools),
        "can_keep": can_keep,
        "unavailable": why_unavailable(),
    }
    if request.htmx:
        return render(request, "evaluation/trials/form.html", context)
    request.room = "benchmarks"
    page = ScriptPage(request, persona, found)
    if request.method == "POST" and can_keep:
        page.autosave(request.POST)
    return render(request, "studio/personas/script.html", page.shown() | context)
