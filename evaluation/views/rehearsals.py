"""Rehearsing a task: choosing a seat, and the conversation. Only its person can open a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from evaluation.forms.rehearsals import RehearsalForm
from evaluation.models import Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.extract import ExtractError, RowKind, extract
from evaluation.rehearsals.lifecycle import RehearsalError
from evaluation.rehearsals.transcript import RehearsalIntent, RehearsalTranscript, load_transcript, summary_of
from evaluation.rehearsals.turns import CHOICES, Choice
from evaluation.rehearsals.work import cancel_model_work, stop_if_lease_expired
from evaluation.workspaces.files import as_text
from studio import access
from studio.access import SignedInRequest
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.models import Blob


@login_required
@require_http_methods(["GET", "POST"])
def rehearse(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The form to start one, and the user's rehearsals of the task."""
    task = access.find_task(request.user, slug, user_id, pk)
    persona = task.episode.persona
    access.require(request.user, persona.benchmark, "rehearse")
    form = RehearsalForm(request.POST or None)
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(lifecycle.start_rehearsal(task, by=request.user, **form.arguments))
        except RehearsalError as error:
            if error.field:
                form.add_error(error.field, str(error))
            problem = "" if error.field else str(error)
    mine = list(
        Rehearsal.objects.filter(person=request.user, revision__task=task).select_related("revision", "agent", "judge")
    )
    request.room = "benchmarks"
    context = {
        "task": task,
        "persona": persona,
        "benchmark": persona.benchmark,
        "form": form,
        "problem": problem,
        "mine": [(row, summary_of(row)) for row in mine[:20]],
        "more": max(0, len(mine) - 20),
    }
    return render(request, "evaluation/rehearsals/start.html", context, status=422 if form.errors or problem else 200)


@login_required
@require_GET
def rehearsal(request: SignedInRequest, pk: int) -> HttpResponse:
    """For htmx only a status: 204, with HX-Refresh once the model work is over."""
    row = _mine(request, pk)
    stop_if_lease_expired(row)
    if request.htmx:
        response = HttpResponse(status=204)
        if row.state != Rehearsal.State.WORKING:
            response["HX-Refresh"] = "true"
        return response
    return _page(request, row)


@login_required
@require_http_methods(["GET", "POST"])
def act(request: SignedInRequest, pk: int, action: str) -> HttpResponse:
    """Run one of ``ACTIONS``. Rejected input is shown again with everything that was typed.

    A GET request comes from a user who had to sign in first; the page restores their text.
    """
    row = _mine(request, pk)
    do = ACTIONS.get(action)
    if do is None:
        raise Http404
    if request.method == "GET":
        return redirect(f"{row.get_absolute_url()}#now")
    try:
        return do(request, row) or redirect(f"{row.get_absolute_url()}#now")
    except RehearsalError as error:
        row.refresh_from_db()
        return _page(request, row, status=422, errors={error.field or "rehearsal": str(error)}, typed=request.POST)


def _answer(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.submit_reply(row.pk, request.POST.get("text", ""), turn=_turn(request))


def _decide(request: SignedInRequest, row: Rehearsal) -> None:
    choices: dict[int, Choice] = {}
    quotes: dict[int, str] = {}
    for position in range(1, len(row.revision.spec.get("intents", ())) + 1):
        chosen = request.POST.get(f"choice.{position}")
        if chosen in CHOICES:
            choices[position] = chosen
            quotes[position] = request.POST.get(f"quote.{position}", "")
    lifecycle.submit_decisions(row.pk, choices, quotes, request.POST.get("words", ""), turn=_turn(request))


def _turn(request: SignedInRequest) -> int | None:
    """The turn the form was rendered for; another window may have moved on."""
    number = request.POST.get("turn", "")
    return int(number) if number.isdecimal() and len(number) < 5 else None


def _propose(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.propose_again(row.pk)


def _again(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.retry_agent(row.pk, request.POST.get("words", ""))


def _stop(request: SignedInRequest, row: Rehearsal) -> None:
    cancel_model_work(row)


def _end(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.end_rehearsal(row.pk)


def _delete(request: SignedInRequest, row: Rehearsal) -> HttpResponse:
    lifecycle.delete_rehearsal(row.pk)
    messages.success(request, "The rehearsal was deleted. What you extracted from it stays in the task.")
    task = row.revision.task
    persona = task.episode.persona
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
    access.require(request.user, row.revision.task.episode.persona.benchmark, "edit")
    kind: RowKind = "item" if request.POST.get("kind") == "item" else "intent"
    position = request.POST.get("place", "")
    try:
        extracted = extract(row, kind, request.POST.get("words", ""), by=request.user)
    except ExtractError as error:
        if request.htmx:
            return render(request, "evaluation/rehearsals/parts/extracted.html", {"problem": str(error)})
        return _page(request, row, status=422, errors={f"keep.{position}": str(error)}, typed=request.POST)
    if request.htmx:
        context = {"extracted": extracted, "task": row.revision.task}
        response = render(request, "evaluation/rehearsals/parts/extracted.html", context)
        response["X-Extracted"] = "yes"
        return response
    name = "intent" if kind == "intent" else "checklist item"
    messages.success(
        request,
        f"Saved as {name} {extracted.position} of the draft, in version {extracted.version}. "
        f"This rehearsal continues with version {row.revision.number}.",
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
    "delete": _delete,
    "write": _write,
    "remove": _remove,
    "keep": _extract,
}


def _mine(request: SignedInRequest, pk: int) -> Rehearsal:
    """404 unless the rehearsal is the user's own and they may still rehearse in its benchmark."""
    row: Rehearsal = get_object_or_404(
        Rehearsal.objects.select_related(
            "revision__task__episode__persona__benchmark", "persona_revision", "agent", "judge"
        ).filter(Q(person=request.user)),
        pk=pk,
    )
    try:
        access.require(request.user, row.revision.task.episode.persona.benchmark, "rehearse")
    except PermissionDenied:
        raise Http404 from None
    return row


def _page(
    request: SignedInRequest,
    row: Rehearsal,
    *,
    status: int = 200,
    errors: dict[str, str] | None = None,
    typed: Any = None,
) -> HttpResponse:
    task = row.revision.task
    persona = task.episode.persona
    typed = typed or {}
    request.room = "benchmarks"
    transcript = load_transcript(row)
    path = typed.get("path") or request.GET.get("file", "")
    context = {
        "rehearsal": row,
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
        "content": typed["content"] if "content" in typed else _text(row, path),
        "all_url": reverse("evaluation:rehearse", args=[persona.benchmark.slug, persona.user_id, task.pk]),
        "working": row.state == Rehearsal.State.WORKING,
    }
    return render(request, "evaluation/rehearsals/rehearsal.html", context, status=status)


def _choices(transcript: RehearsalTranscript, typed: Any) -> list[tuple[RehearsalIntent, str, str]]:
    """Each open intent with its choice and quote: as typed, else as proposed, else the default."""
    choices = []
    for intent in transcript.open:
        index = intent.state.index
        proposed = intent.proposal
        choice = typed.get(f"choice.{index}") or (proposed.choice if proposed else "neither")
        quote = typed.get(f"quote.{index}", proposed.quote if proposed else "")
        choices.append((intent, choice, quote))
    return choices


def _text(row: Rehearsal, path: str) -> str:
    """A workspace file for editing; empty if it is too large or not text."""
    blob = Blob.objects.filter(pk=row.manifest.get(path, "")).first()
    if blob is None or blob.size > lifecycle.MAX_FILE_BYTES:
        return ""
    return as_text(bytes(blob.content)) or ""
