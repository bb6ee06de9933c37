"""Comments and suggestions on a task's page."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from studio import access
from studio.access import SignedInRequest
from studio.domain.anchors import Quote, quotable_texts
from studio.domain.diff import word_pieces
from studio.drafts.editor import ConflictError
from studio.drafts.load import load_task
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.forms.tasks import uid_of_row
from studio.models import Task
from studio.review import comments, suggestions
from studio.review.threads import threads_of
from studio.tasks.transitions import WorkflowError
from studio.views.pages import place_of, show, task_page
from studio.views.tasks.autosave import UnresolvedError, save_autosaved
from studio.views.tasks.editor_context import FIELDS


@task_page("comment", "POST")
def add_comment(request: SignedInRequest, task: Task) -> HttpResponse:
    """Comment on the selected text. If only the autosaved draft has it, save that as a version first."""
    field, _, key = request.POST.get("about", "").partition(":")
    suggestion = request.POST.get("suggestion", "")
    values: dict[str, Any] = {
        "by": request.user,
        "text": request.POST.get("text", ""),
        "field": field if field in dict(FIELDS) else "",
        "item_uid": _row(key),
        "quoted": _quote(request),
        "suggestion": suggestion if request.POST.get("suggest") or suggestion.strip() else None,
    }

    def act() -> None:
        try:
            comments.add_comment(task.pk, **values)
        except comments.CommentTargetError:
            if not access.may(request.user, task.persona.benchmark, "edit"):
                raise
            save_autosaved(request, task)
            comments.add_comment(task.pk, **values)

    return _perform(request, task, act)


@task_page("comment", "POST")
def reply(request: SignedInRequest, task: Task, comment: int) -> HttpResponse:
    root = get_object_or_404(task.comments, pk=comment)
    return _perform(request, task, lambda: comments.reply(root, by=request.user, text=request.POST.get("text", "")))


@task_page("comment", "POST")
def edit_comment(request: SignedInRequest, task: Task, comment: int) -> HttpResponse:
    own = get_object_or_404(task.comments, pk=comment)

    def act() -> None:
        if "retract" in request.POST:
            comments.retract(own, by=request.user)
        else:
            text, suggestion = request.POST.get("text", ""), request.POST.get("suggestion")
            comments.edit_comment(own, by=request.user, text=text, suggestion=suggestion)

    return _perform(request, task, act)


@task_page("comment", "POST")
def resolve(request: SignedInRequest, task: Task, comment: int) -> HttpResponse:
    root = get_object_or_404(task.comments, pk=comment)
    resolved = "open" not in request.POST
    return _perform(request, task, lambda: comments.resolve(root, by=request.user, resolved=resolved))


@task_page("edit", "POST")
def apply(request: SignedInRequest, task: Task) -> HttpResponse:
    keys = [key for key in map(number_of, request.POST.getlist("comment")) if key]
    try:
        done = suggestions.apply(task.pk, keys, by=request.user)
    except (WorkflowError, DraftError) as error:
        messages.error(request, str(error))
        return redirect(f"{task.get_absolute_url()}#comments")
    if done.revision and done.revision.number != task.version:
        messages.success(request, f"Applied: this is version {done.revision.number}.")
    elif done.revision:
        messages.info(request, "The text already says that. The suggestion is resolved.")
    if not done.unresolved:
        return redirect(f"{task.get_absolute_url()}#comments")
    return redirect("studio:suggestion_conflict", *place_of(task), done.unresolved[0].pk)


@task_page("edit")
def resolve_conflict(request: SignedInRequest, task: Task, comment: int) -> HttpResponse:
    """Apply a suggestion whose text has changed since, as edited by the user."""
    row = get_object_or_404(
        task.comments.select_related("author", "revision"), pk=comment, suggestion__isnull=False, applied_in=None
    )
    conflict = suggestions.conflict_of(row)
    text, problem, status = conflict.suggested, "", 200
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            seen = number_of(request.POST.get("version"))
            saved = suggestions.apply_resolved(task.pk, row.pk, text, by=request.user, version=seen)
            messages.success(request, f"Applied: this is version {saved.number}.")
            return redirect(f"{task.get_absolute_url()}#comments")
        except (ConflictError, suggestions.SuggestionOutdatedError):
            conflict = suggestions.conflict_of(row)
            problem, status = "Someone changed it again while you were reading. This is the current text.", 409
        except (WorkflowError, DraftError) as error:
            problem, status = str(error), 422
    context = {
        "comment": row,
        "conflict": conflict,
        "text": text.replace("\r\n", "\n"),
        "problem": problem,
        "change": word_pieces(row.quote, row.suggestion or ""),
        "since": word_pieces(conflict.original, conflict.current or ""),
        "would": word_pieces(conflict.current or "", conflict.suggested),
    }
    return show(request, task, "studio/review/suggestion.html", context, status=status)


def _perform(request: SignedInRequest, task: Task, act: Callable[[], object]) -> HttpResponse:
    """Act, then return the comments for htmx, or redirect to the page."""
    problem = ""
    try:
        act()
    except (WorkflowError, UnresolvedError) as error:
        problem = str(error)
    if not request.htmx:
        if problem:
            messages.error(request, problem)
        return redirect(f"{task.get_absolute_url()}#comments")
    task.refresh_from_db()
    spec = load_task(task)
    context = {
        "threads": threads_of(task, quotable_texts(spec.to_json())),
        "form": {
            "intents": [{"key": intent.uid, "content": intent.content} for intent in spec.intents],
            "checklist": [{"key": item.uid, "criterion": item.criterion} for item in spec.checklist],
        },
        "fields": FIELDS,
        "problem": problem,
    }
    return show(request, task, "studio/review/parts/comments.html", context)


def _quote(request: SignedInRequest) -> Quote | None:
    text, before, after = (
        request.POST.get(name, "").replace("\r\n", "\n").replace("\0", "") for name in ("words", "before", "after")
    )
    return Quote(text, before, after, number_of(request.POST.get("start"))) if text else None


def _row(key: str) -> str | None:
    try:
        return str(uuid.UUID(uid_of_row(key))) if key else None
    except ValueError:
        return None
