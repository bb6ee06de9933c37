"""When a persona's sessions take place."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from studio.access import SignedInRequest
from studio.domain.app_data import CLOCK, ClockError, EpisodeTimes, read_times
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError, StaleDraftError
from studio.forms.clock import ClockForm
from studio.forms.post_data import number_of
from studio.models import Persona
from studio.personas.app_data import APP_DATA, save_apps
from studio.views.pages import persona_page, place_of, show


@persona_page("view", "GET", "POST", post="edit")
def clock(request: SignedInRequest, persona: Persona) -> HttpResponse:
    episode = load_episode(persona)
    stored = APP_DATA.find(episode.persona, CLOCK) or APP_DATA.empty
    times, error = EpisodeTimes(), ""
    try:
        times = read_times(stored.text.encode()) if stored.text else times
    except ClockError as flaw:
        error = str(flaw)
    tasks = [(task.task_id, task.title.strip() or task.task_id) for task in episode.tasks]
    form = ClockForm(request.POST if request.method == "POST" else None, times=times, tasks=tasks)
    if request.method == "POST" and form.is_valid():
        try:
            version = number_of(request.POST.get("base_version"))
            note = "Times of sessions changed."
            save_apps(persona, {CLOCK: form.to_json()}, note, by=request.user, base_version=version)
        except (DraftError, StaleDraftError) as problem:
            error = str(problem)
        else:
            messages.success(request, "Saved when the sessions take place.")
            return redirect("studio:apps", *place_of(persona))
    context, status = {"form": form, "error": error}, 422 if form.errors or error else 200
    return show(request, persona, "studio/personas/clock.html", context, status=status)
