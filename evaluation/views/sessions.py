"""Session transcripts and workspace files."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from evaluation.audits.blindness import find_session, open_sessions
from evaluation.audits.corrections import corrected_in_session
from evaluation.judging.script_versions import is_graded_by_older_script
from evaluation.models import Session, Turn, Verdict
from evaluation.transcripts.files import compare_texts, file_rows, manifest_before, open_file, sizes_of
from evaluation.transcripts.notes import NoteError, add_note, delete_note
from evaluation.transcripts.passages import highlight
from evaluation.transcripts.session import SessionTranscript, calls_under_way, load_transcript, neighbours, side_by_side
from evaluation.transcripts.waiting import unanswered_calls, with_waiting
from evaluation.workspaces.manifests import Manifest
from studio.access import SignedInRequest, may, require
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.files.downloads import download
from studio.models import Blob

OTHERS = 30
"""Sessions of the same task that a session's page offers to compare with, newest first."""


@require_GET
def session(request: SignedInRequest, pk: int) -> HttpResponse:
    """``?turn=`` selects the turn whose workspace is listed; the last one by default. ``?beside=`` shows another
    session of the same task next to it."""
    row = find_session(request.user, pk)
    if request.htmx and request.htmx.target == "under-way":
        seen = request.GET.get("seen", "")
        new = row.turn_count - int(seen) if seen.isascii() and seen.isdecimal() and len(seen) < 6 else 0
        context = {"session": row, **_under_way(row), "seen": seen, "new_turns": max(new, 0)}
        return render(request, "evaluation/sessions/session.html#under_way", context)
    transcript = load_transcript(row)
    others = open_sessions(request.user).filter(revision__task=row.revision.task_id).exclude(pk=pk)
    if beside := request.GET.get("beside"):
        return _beside(request, row, transcript, others, beside)
    numbers = [view.turn.number for view in transcript.turns]
    number = _selected_turn(request.GET.get("turn"), numbers)
    view = next((view for view in transcript.turns if view.turn.number == number), None)
    files = []
    if view is not None:
        manifest = view.turn.snapshot.manifest
        files = file_rows(transcript.befores[view.turn.number], manifest, sizes_of(manifest))
    before, after = neighbours(row)
    context = {
        "session": row,
        "pilot": row.pilot,
        "transcript": transcript,
        "older_script": is_graded_by_older_script(row),
        "corrected": corrected_in_session(row),
        "unanswered": unanswered_calls(row),
        "workspace_turn": number,
        "files": files,
        "numbers": numbers,
        "previous": before,
        "next": after,
        **_under_way(row),
        "seen": row.turn_count,
        "can_note": may(request.user, row.pilot.benchmark, "comment"),
        "others": others.exclude(turn_count=0).order_by("-pk")[:OTHERS],
    }
    template = "evaluation/sessions/session.html"
    if request.htmx and request.htmx.target == "workspace":
        template += "#workspace"
    return render(request, template, context)


def _under_way(row: Session) -> dict[str, Any]:
    [row] = with_waiting([row])
    calls = calls_under_way(row)
    is_tool = any(call.record is None for call in calls)
    return {"under_way": calls, "waiting": None if is_tool else getattr(row, "waiting", None)}


def _beside(
    request: SignedInRequest, row: Session, transcript: SessionTranscript, others: QuerySet[Session], key: str
) -> HttpResponse:
    other = get_object_or_404(others, pk=int(key) if key.isascii() and key.isdecimal() and len(key) < 19 else 0)
    second = load_transcript(other)
    context = {
        "session": row,
        "transcript": transcript,
        "both": [(row, transcript), (other, second)],
        "sides": side_by_side((row, transcript), (other, second)),
    }
    return render(request, "evaluation/sessions/beside.html", context)


@require_GET
def session_file(request: SignedInRequest, pk: int, number: int) -> HttpResponse:
    """The file in ``?path=`` after a turn; with ``?diff=1`` compared with the turn before."""
    row, turn, before = _turn(request, pk, number)
    path = request.GET.get("path", "")
    file = open_file(path, before, turn.snapshot.manifest)
    gone = file is None and path in before
    if file is None and not gone:
        raise Http404
    earlier = open_file(path, {}, before) if path in before else None
    quotes = {
        str(verdict.pk): verdict.quote
        for verdict in Verdict.objects.of_session(row)
        if verdict.turn == number and verdict.quote
    }
    comparable = earlier is not None and (gone or (file is not None and file.change == "changed"))
    text_before = earlier.text if earlier else None
    text_after = "" if gone else file.text if file else None
    lines = None
    if comparable and (gone or request.GET.get("diff")) and text_before is not None and text_after is not None:
        lines = compare_texts(text_before, text_after)
    return render(
        request,
        "evaluation/sessions/file.html",
        {
            "session": row,
            "pilot": row.pilot,
            "turn": turn,
            "path": path,
            "file": file,
            "gone": gone,
            "comparable": comparable,
            "wants_diff": gone or (comparable and bool(request.GET.get("diff"))),
            "lines": lines,
            "html": highlight(file.text, quotes)[0] if file and file.text is not None else None,
            "turns": range(1, row.turn_count + 1),
        },
    )


@require_POST
def turn_notes(request: SignedInRequest, pk: int, number: int) -> HttpResponse:
    """Add ``text``, or delete the own note ``delete``. For htmx the turn's notes."""
    row = find_session(request.user, pk)
    require(request.user, row.pilot.benchmark, "comment")
    turn = get_object_or_404(row.turns, number=number)
    context = {"session": row, "turn": turn, "can_note": True}
    if key := request.POST.get("delete"):
        delete_note(turn, request.user, key)
    else:
        try:
            add_note(turn, request.user, request.POST.get("text", ""))
        except NoteError as error:
            context |= {"note_error": str(error), "note_text": request.POST.get("text", "")}
            if not request.htmx:
                messages.error(request, str(error))
    if not request.htmx:
        return redirect(f"{row.get_absolute_url()}#turn-{number}")
    return render(request, "evaluation/sessions/parts/notes.html", context)


@require_GET
def session_download(request: SignedInRequest, pk: int, number: int) -> HttpResponse:
    """Always a download, because the content is untrusted."""
    _, turn, _ = _turn(request, pk, number)
    path = request.GET.get("path", "")
    blob = Blob.objects.filter(pk=turn.snapshot.manifest.get(path, "")).first()
    if blob is None:
        raise Http404
    return download(path, bytes(blob.content))


def _turn(request: SignedInRequest, pk: int, number: int) -> tuple[Session, Turn, Manifest]:
    row = find_session(request.user, pk)
    turn = get_object_or_404(row.turns.select_related("snapshot"), number=number)
    if number > 1:
        earlier = row.turns.select_related("snapshot").filter(number=number - 1).first()
        return row, turn, earlier.snapshot.manifest if earlier else {}
    task = TaskSpec.model_validate(row.revision.spec)
    persona = PersonaSpec.model_validate(row.run.persona_revision.spec)
    return row, turn, manifest_before(row, task, persona)


def _selected_turn(value: str | None, numbers: list[int]) -> int | None:
    if value and value.isdecimal() and len(value) < 6 and int(value) in numbers:
        return int(value)
    return numbers[-1] if numbers else None
