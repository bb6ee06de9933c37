"""Rehearsing a task: choosing a seat, and the conversation. A rehearsal is there for the person who began it alone."""

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
from evaluation.rehearsals.extract import ExtractError, Kind, keep_words
from evaluation.rehearsals.lifecycle import RehearsalError
from evaluation.rehearsals.transcript import read_rehearsal, summary_of
from evaluation.rehearsals.turns import CHOICES, Choice
from evaluation.rehearsals.work import give_up_dead, stop_waiting
from evaluation.workspaces.files import as_text
from studio import access
from studio.access import SignedInRequest
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.models import Blob


@login_required
@require_http_methods(["GET", "POST"])
def rehearse(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Choose a seat and who plays the rest; below, one's rehearsals of the task."""
    task = access.find_task(request.user, slug, user_id, pk)
    persona = task.episode.persona
    access.require(request.user, persona.benchmark, "rehearse")
    form = RehearsalForm(request.POST or None)
    problem = ""
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(lifecycle.start_rehearsal(task, by=request.user, **form.arguments))
        except RehearsalError as refusal:
            if refusal.field:
                form.add_error(refusal.field, str(refusal))
            problem = "" if refusal.field else str(refusal)
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
    """The page; for htmx, whether a model is still at work: 204, or a word to load the page again."""
    row = _mine(request, pk)
    give_up_dead(row)
    if request.htmx:
        answer = HttpResponse(status=204)
        if row.state != Rehearsal.State.WORKING:
            answer["HX-Refresh"] = "true"
        return answer
    return _page(request, row)


@login_required
@require_http_methods(["GET", "POST"])
def act(request: SignedInRequest, pk: int, action: str) -> HttpResponse:
    """Whatever a person does in a rehearsal. What is refused comes back with all that was typed.

    Whoever had to sign in first is sent here without a form, and finds their words in the page.
    """
    row = _mine(request, pk)
    do = ACTIONS.get(action)
    if do is None:
        raise Http404
    if request.method == "GET":
        return redirect(f"{row.get_absolute_url()}#now")
    try:
        return do(request, row) or redirect(f"{row.get_absolute_url()}#now")
    except RehearsalError as refusal:
        row.refresh_from_db()
        return _page(request, row, status=422, errors={refusal.field or "rehearsal": str(refusal)}, typed=request.POST)


def _answer(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.answer(row.pk, request.POST.get("text", ""), turn=_turn(request))


def _decide(request: SignedInRequest, row: Rehearsal) -> None:
    choices: dict[int, Choice] = {}
    quotes: dict[int, str] = {}
    for position in range(1, len(row.revision.spec.get("intents", ())) + 1):
        chosen = request.POST.get(f"choice.{position}")
        if chosen in CHOICES:
            choices[position] = chosen
            quotes[position] = request.POST.get(f"quote.{position}", "")
    lifecycle.decide(row.pk, choices, quotes, request.POST.get("words", ""), turn=_turn(request))


def _turn(request: SignedInRequest) -> int | None:
    """The turn the form was made for: another window may have gone on."""
    number = request.POST.get("turn", "")
    return int(number) if number.isdecimal() and len(number) < 5 else None


def _propose(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.propose_again(row.pk)


def _again(request: SignedInRequest, row: Rehearsal) -> None:
    lifecycle.try_again(row.pk, request.POST.get("words", ""))


def _stop(request: SignedInRequest, row: Rehearsal) -> None:
    stop_waiting(row)


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


def _keep(request: SignedInRequest, row: Rehearsal) -> HttpResponse:
    """Words of a message become an intent or an item of the draft."""
    access.require(request.user, row.revision.task.episode.persona.benchmark, "edit")
    kind: Kind = "item" if request.POST.get("kind") == "item" else "intent"
    place = request.POST.get("place", "")
    try:
        harvest = keep_words(row, kind, request.POST.get("words", ""), by=request.user)
    except ExtractError as refusal:
        if request.htmx:
            return render(request, "evaluation/rehearsals/parts/extracted.html", {"problem": str(refusal)})
        return _page(request, row, status=422, errors={f"keep.{place}": str(refusal)}, typed=request.POST)
    if request.htmx:
        context = {"harvest": harvest, "task": row.revision.task}
        answer = render(request, "evaluation/rehearsals/parts/extracted.html", context)
        answer["X-Extracted"] = "yes"
        return answer
    name = "intent" if kind == "intent" else "checklist item"
    messages.success(
        request,
        f"Saved as {name} {harvest.position} of the draft, in version {harvest.version}. "
        f"This rehearsal continues with version {row.revision.number}.",
    )
    turn = place.partition("-")[0]
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
    "keep": _keep,
}


def _mine(request: SignedInRequest, pk: int) -> Rehearsal:
    """One's own rehearsal of a benchmark one still rehearses in; else 404."""
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
    reading = read_rehearsal(row)
    path = typed.get("path") or request.GET.get("file", "")
    context = {
        "rehearsal": row,
        "reading": reading,
        "task": task,
        "persona": persona,
        "benchmark": persona.benchmark,
        "can_keep": access.may(request.user, persona.benchmark, "edit"),
        "takes_back": task.state in ENDED_BY_EDITS,
        "errors": errors or {},
        "typed": typed,
        "choices": _choices(row, reading, typed),
        "choice_names": [("met", "met it"), ("asked", "asked for it"), ("neither", "neither")],
        "path": path,
        "content": typed["content"] if "content" in typed else _text(row, path),
        "all_url": reverse("evaluation:rehearse", args=[persona.benchmark.slug, persona.user_id, task.pk]),
        "working": row.state == Rehearsal.State.WORKING,
    }
    return render(request, "evaluation/rehearsals/rehearsal.html", context, status=status)


def _choices(row: Rehearsal, reading: Any, typed: Any) -> list[tuple[Any, str, str]]:
    """Each open intent with what stands chosen, and the quote: as typed, as proposed, or nothing."""
    found = []
    for one in reading.open:
        index = one.state.index
        proposed = one.proposal
        choice = typed.get(f"choice.{index}") or (proposed.choice if proposed else "neither")
        quote = typed.get(f"quote.{index}", proposed.quote if proposed else "")
        found.append((one, choice, quote))
    return found


def _text(row: Rehearsal, path: str) -> str:
    """A file of the workspace for editing; nothing if it is no text or too large."""
    blob = Blob.objects.filter(pk=row.manifest.get(path, "")).first()
    if blob is None or blob.size > lifecycle.LARGEST_FILE:
        return ""
    return as_text(bytes(blob.content)) or ""
