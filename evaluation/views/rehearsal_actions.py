"""What a user does in a rehearsal: reply, decide, write files, extract text, end it."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluation.models import Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.decisions import CHOICES, Choice
from evaluation.rehearsals.extract import ExtractError, RowKind, extract_row
from evaluation.rehearsals.lifecycle import RehearsalError
from evaluation.views.rehearsals import find_own_rehearsal, render_rehearsal
from studio import access
from studio.access import SignedInRequest


@login_required
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
