"""A preview of how a persona's simulated user behaves, task by task."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render

from evaluation.protocol.preview import preview_user
from studio import access
from studio.access import SignedInRequest
from studio.drafts.load import load_tasks


@login_required
def user_preview(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    """``?task=`` selects a task; by default the first with hidden intents."""
    request.room = "benchmarks"
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
