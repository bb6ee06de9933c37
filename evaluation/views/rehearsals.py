"""Pages of rehearsals: starting one, the conversation, and what a user does in it. Only who started one can open it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.forms.choices import RehearsalForm
from evaluation.models import Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.calls import offered_tools
from evaluation.rehearsals.decisions import CHOICES, Choice, IntentDecision
from evaluation.rehearsals.extract import ExtractError, RowKind, extract_row
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


@require_http_methods(["GET", "POST"])
def act(request: SignedInRequest, pk: int, action: str) -> HttpResponse:
    """Run one of ``ACTIONS``. Rejected input is shown again with everything that was typed.

    GET comes from a user who had to sign in first; the page restores their text.
    """
    row = find_own_rehearsal(request, pk)
    run_action = ACTIONS.get(action)
    if run_action is None:
        raise Http404
    if request.method == "GET":
        return redirect(f"{row.get_absolute_url()}#now")
    try:
        return run_action(request, row) or redirect(f"{row.get_absolute_url()}#now")
    except RehearsalError as error:
        row = find_own_rehearsal(request, pk)
        return render_rehearsal(
            request, row, status=422, errors={error.field or "rehearsal": str(error)}, typed=request.POST
        )


def _answer(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.submit_reply(row.pk, request.POST.get("text", ""), turn=_turn(request))


def _decide(request: SignedInRequest, row: Rehearsal) -> None:
    choices: dict[int, Choice] = {}
    quotes: dict[int, str] = {}
    for position in range(1, len(row.session.revision.spec.get("intents", ())) + 1):
        chosen = request.POST.get(f"choice.{position}")
        if chosen in CHOICES:
            choices[position] = chosen
            quotes[position] = request.POST.get(f"quote.{position}", "")
    lifecycle.submit_decisions(row.pk, choices, quotes, request.POST.get("message", ""), turn=_turn(request))


def _turn(request: SignedInRequest) -> int | None:
    """The turn the form was rendered for; another window may have moved on."""
    number = request.POST.get("turn", "")
    return int(number) if number.isdecimal() and len(number) < 5 else None


def _propose(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.propose_again(row.pk)


def _again(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.retry_agent(row.pk, request.POST.get("message", ""))


def _stop(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.cancel_model_work(row.pk)


def _end(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.end_rehearsal(row.pk)


def _grade(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.grade_again(row.pk)


def _delete(request: SignedInRequest, row: Rehearsal) -> HttpResponse:
    lifecycle.delete_rehearsal(row.pk)
    messages.success(request, "The rehearsal was deleted. What you extracted from it stays in the task.")
    task = row.session.revision.task
    persona = task.persona
    return redirect("evaluation:rehearse", persona.benchmark.slug, persona.user_id, task.pk)


def _write(request: SignedInRequest, row: Rehearsal) -> HttpResponse | None:
    uploads = request.FILES.getlist("uploads")
    for file in uploads:
        lifecycle.validate_size(file.name or "", file.size or 0, field="uploads")
        lifecycle.write_file(row.pk, file.name or "", file.read())
    path = request.POST.get("path", "")
    if path.strip() or not uploads:
        text = request.POST.get("content", "").replace("\r\n", "\n")
        name = lifecycle.write_file(row.pk, path, text.encode("utf-8", "replace"))
        messages.success(request, f"“{name}” was added to the workspace.")
    return redirect(f"{row.get_absolute_url()}#workspace")


def _remove(request: SignedInRequest, row: Rehearsal) -> HttpResponse:
    lifecycle.remove_file(row.pk, request.POST.get("path", ""))
    return redirect(f"{row.get_absolute_url()}#workspace")


def _extract(request: SignedInRequest, row: Rehearsal) -> HttpResponse:
    access.require(request.user, row.session.revision.task.persona.benchmark, "edit")
    kind: RowKind = "item" if request.POST.get("kind") == "item" else "intent"
    position = request.POST.get("position", "")
    try:
        extracted = extract_row(row, kind, request.POST.get("excerpt", ""), by=request.user)
    except ExtractError as error:
        if request.htmx:
            return render(request, "evaluation/rehearsals/parts/extracted.html", {"problem": str(error)})
        return render_rehearsal(
            request, row, status=422, errors={f"extract.{position}": str(error)}, typed=request.POST
        )
    if request.htmx:
        context = {"extracted": extracted, "task": row.session.revision.task}
        response = render(request, "evaluation/rehearsals/parts/extracted.html", context)
        response["X-Extracted"] = "yes"
        return response
    name = "intent" if kind == "intent" else "checklist item"
    messages.success(
        request,
        f"Saved as {name} {extracted.position} of the draft, in version {extracted.version}. "
        f"This rehearsal continues with version {row.session.revision.number}.",
    )
    turn = position.partition("-")[0]
    return redirect(f"{row.get_absolute_url()}#turn-{turn}" if turn.isdecimal() else row.get_absolute_url())


ACTIONS: dict[str, Callable[[SignedInRequest, Rehearsal], HttpResponse | None]] = {
    "answer": _answer,
    "decide": _decide,
    "propose": _propose,
    "again": _again,
    "stop": _stop,
    "end": _end,
    "grade": _grade,
    "delete": _delete,
    "write": _write,
    "remove": _remove,
    "keep": _extract,
}
