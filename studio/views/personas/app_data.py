"""Simulated apps of a persona: what they hold when its episode begins."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from studio import access
from studio.access import SignedInRequest
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.post_data import number_of
from studio.personas.app_data import persona_apps, save_app_data


@login_required
@require_safe
def apps(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "apps": persona_apps(persona),
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/apps.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def app(request: SignedInRequest, slug: str, user_id: str, app: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    found = next((each for each in persona_apps(persona) if each.card.name == app), None)
    if found is None:
        raise Http404
    text, error = found.text or "", ""
    if request.method == "POST":
        access.require(request.user, persona.benchmark, "edit")
        text = request.POST.get("text", "")
        try:
            version = number_of(request.POST.get("base_version"))
            save_app_data(persona, app, text, by=request.user, base_version=version)
        except (DraftError, StaleDraftError) as problem:
            error = str(problem)
        else:
            messages.success(request, f"Saved the data of {found.card.title}.")
            return redirect("studio:apps", slug, user_id)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "app": found,
        "text": text,
        "error": error,
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/app.html", context, status=422 if error else 200)
