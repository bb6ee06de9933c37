"""Pages of rehearsals: starting one, and the conversation. Only the person who started it can open it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.forms.rehearsals import RehearsalForm
from evaluation.models import Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.calls import offered_tools
from evaluation.rehearsals.decisions import IntentDecision
from evaluation.rehearsals.lifecycle import RehearsalError
from evaluation.rehearsals.mailbox import mail_tools
from evaluation.rehearsals.transcript import RehearsalTranscript, load_rehearsal
from evaluation.transcripts.files import decode_text
from evaluation.transcripts.outcomes import IntentOutcome
from evaluation.transcripts.session import calls_under_way
from studio import access
from studio.access import SignedInRequest
from studio.drafts.autosave import EditorKey, autosaved_text
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.models import Blob


@login_required
@require_http_methods(["GET", "POST"])
def rehearse(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    persona = task.persona
    access.require(request.user, persona.benchmark, "rehearse")
    form = RehearsalForm(request.POST or None, benchmark=persona.benchmark)
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(lifecycle.start_rehearsal(task, by=request.user, **form.arguments))
        except RehearsalError as error:
            if error.field:
                form.add_error(error.field, str(error))
            problem = "" if error.field else str(error)
    own = list(
        Rehearsal.objects.filter(person=request.user, session__revision__task=task).select_related(
            "session__revision", "agent", "judge"
        )
    )
    request.room = "benchmarks"
    context = {
        "task": task,
        "persona": persona,
        "benchmark": persona.benchmark,
        "form": form,
        "problem": problem,
        "unsaved": autosaved_text(EditorKey(task=task), request.user) is not None,
        "mine": own[:20],
        "more": max(0, len(own) - 20),
    }
    return render(request, "evaluation/rehearsals/start.html", context, status=422 if form.errors or problem else 200)


@login_required
@require_GET
def rehearsal(request: SignedInRequest, pk: int) -> HttpResponse:
    """For htmx what a model does now; with HX-Refresh once it, or the grading, has finished."""
    row = find_own_rehearsal(request, pk)
    if request.htmx:
        context = {"under_way": calls_under_way(row.session)}
        response = render(request, "evaluation/rehearsals/parts/under_way.html", context)
        if row.state != Rehearsal.State.WORKING and not row.is_being_graded:
            response["HX-Refresh"] = "true"
        return response
    return render_rehearsal(request, row)


def find_own_rehearsal(request: SignedInRequest, pk: int) -> Rehearsal:
    """Raises Http404 unless the rehearsal is the user's own, PermissionDenied if they may no longer rehearse there."""
    row: Rehearsal = get_object_or_404(
        Rehearsal.objects.select_related(
            "session__revision__task__persona__benchmark",
            "session__run__persona_revision__persona",
            "agent",
            "judge",
        ).filter(person=request.user),
        pk=pk,
    )
    access.require(request.user, row.session.revision.task.persona.benchmark, "rehearse")
    return row


def render_rehearsal(
    request: SignedInRequest,
    row: Rehearsal,
    *,
    status: int = 200,
    errors: dict[str, str] | None = None,
    typed: Any = None,
) -> HttpResponse:
    task = row.session.revision.task
    persona = task.persona
    typed = typed or {}
    request.room = "benchmarks"
    transcript = load_rehearsal(row)
    path = typed.get("path") or request.GET.get("file", "")
    context = {
        "rehearsal": row,
        "revision": row.session.revision,
        "transcript": transcript,
        "task": task,
        "persona": persona,
        "benchmark": persona.benchmark,
        "can_extract": access.may(request.user, persona.benchmark, "edit"),
        "returns_to_draft": task.state in ENDED_BY_EDITS,
        "errors": errors or {},
        "typed": typed,
        "choices": _choices(transcript, typed),
        "choice_names": [("met", "met it"), ("asked", "asked for it"), ("neither", "neither")],
        "path": path,
        "content": typed["content"] if "content" in typed else _file_text(transcript, path),
        "all_url": reverse("evaluation:rehearse", args=[persona.benchmark.slug, persona.user_id, task.pk]),
        "working": row.state == Rehearsal.State.WORKING,
        "under_way": calls_under_way(row.session),
        "mail": row.seat == Rehearsal.Seat.AGENT and bool(mail_tools(offered_tools(row))),
    }
    return render(request, "evaluation/rehearsals/rehearsal.html", context, status=status)


def _choices(transcript: RehearsalTranscript, typed: Any) -> list[tuple[IntentOutcome, IntentDecision]]:
    """Each open intent with what stands in its form: as typed, else as proposed, else the default."""
    choices = []
    for intent in transcript.open:
        index = intent.index
        proposed = transcript.proposed.get(index, IntentDecision())
        choice = typed.get(f"choice.{index}") or proposed.choice
        quote = typed.get(f"quote.{index}", proposed.quote)
        choices.append((intent, replace(proposed, choice=choice, quote=quote)))
    return choices


def _file_text(transcript: RehearsalTranscript, path: str) -> str:
    blob = Blob.objects.filter(pk=transcript.manifest.get(path, "")).first()
    if blob is None or blob.size > lifecycle.MAX_FILE_BYTES:
        return ""
    return decode_text(bytes(blob.content)) or ""
