"""A task tried on a model, from its editor."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluation.audits.blindness import open_pilots, record_look
from evaluation.models import Session
from evaluation.pilots.start import start_pilot
from evaluation.transcripts.session import load_transcript
from evaluation.trials.on_model import newest_session, plan_try
from evaluation.views.pilots import RUNNING
from studio.access import SignedInRequest, find_task, may, require
from studio.domain.options import OptionsError
from studio.drafts.autosave import EditorKey, autosaved_text

UNDER_WAY = (Session.State.WAITING, Session.State.RUNNING)


@login_required
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
    request.room = "benchmarks"
    part = "#try" if request.htmx else ""
    return render(request, f"evaluation/trials/model_try.html{part}", context)
