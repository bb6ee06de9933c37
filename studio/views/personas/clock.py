"""When a persona's sessions take place."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from studio import access
from studio.access import SignedInRequest
from studio.domain.app_data import CLOCK, ClockError, EpisodeTimes, read_times
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.clock import ClockForm
from studio.forms.post_data import number_of
from studio.personas.app_data import APP_DATA, save_apps


@login_required
@require_http_methods(["GET", "POST"])
def clock(request: SignedInRequest, slug: str, user_id: str) -> HttpResponse:
    persona = access.find_persona(request.user, slug, user_id)
    episode = load_episode(persona)
    stored = APP_DATA.find(episode.persona, CLOCK) or APP_DATA.empty
    times, error = EpisodeTimes(), ""
    try:
        times = read_times(stored.text.encode()) if stored.text else times
    except ClockError as flaw:
        error = str(flaw)
    tasks = [(task.task_id, task.title.strip() or task.task_id) for task in episode.tasks]
    form = ClockForm(request.POST if request.method == "POST" else None, times=times, tasks=tasks)
    if request.method == "POST":
        access.require(request.user, persona.benchmark, "edit")
        if form.is_valid():
            try:
                version = number_of(request.POST.get("base_version"))
                note = "Times of sessions changed."
                save_apps(persona, {CLOCK: form.to_json()}, note, by=request.user, base_version=version)
            except (DraftError, StaleDraftError) as problem:
                error = str(problem)
            else:
                messages.success(request, "Saved when the sessions take place.")
                return redirect("studio:apps", slug, user_id)
    context = {
        "persona": persona,
        "benchmark": persona.benchmark,
        "form": form,
        "error": error,
        "can": access.actions_in(request.user, persona.benchmark),
    }
    return render(request, "studio/personas/clock.html", context, status=422 if form.errors or error else 200)
