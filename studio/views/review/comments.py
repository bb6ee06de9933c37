"""Talk about a task on its page: remark, answer, change, take back, settle; and suggestions that are applied."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.domain.anchors import Quote, quotable_texts
from studio.domain.diff import word_pieces
from studio.drafts.load import load_task
from studio.drafts.rebase import ConflictError
from studio.drafts.validate import DraftError
from studio.forms.post_data import number_of
from studio.forms.tasks import uid_of_row
from studio.models import Task
from studio.review import comments as remarks
from studio.review import suggestions
from studio.review.threads import threads_of
from studio.tasks.transitions import WorkflowError
from studio.views.tasks.autosave import UnresolvedError, save_autosaved
from studio.views.tasks.editor_context import FIELDS


@login_required
@require_POST
def remark(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """A remark on what was chosen. If the newest version does not say it yet, one is made of what was typed first."""
    task = _task(request, slug, user_id, pk)
    field, _, key = request.POST.get("about", "").partition(":")
    suggestion = request.POST.get("suggestion", "")
    values: dict[str, Any] = {
        "by": request.user,
        "text": request.POST.get("text", ""),
        "field": field if field in dict(FIELDS) else "",
        "item_uid": _row(key),
        "words": _words(request),
        "suggestion": suggestion if request.POST.get("suggest") or suggestion.strip() else None,
    }

    def act() -> None:
        try:
            remarks.remark(task.pk, **values)
        except remarks.CommentTargetError:
            if not access.may(request.user, task.episode.persona.benchmark, "edit"):
                raise
            save_autosaved(request, task)
            remarks.remark(task.pk, **values)

    return _answered(request, task, act)


@login_required
@require_POST
def answer(request: SignedInRequest, slug: str, user_id: str, pk: int, remark: int) -> HttpResponse:
    task = _task(request, slug, user_id, pk)
    root = get_object_or_404(task.comments, pk=remark)
    return _answered(request, task, lambda: remarks.answer(root, by=request.user, text=request.POST.get("text", "")))


@login_required
@require_POST
def rewrite(request: SignedInRequest, slug: str, user_id: str, pk: int, remark: int) -> HttpResponse:
    """Other words for one's own remark; with ``take_back``, none."""
    task = _task(request, slug, user_id, pk)
    own = get_object_or_404(task.comments, pk=remark)

    def act() -> None:
        if "take_back" in request.POST:
            remarks.take_back(own, by=request.user)
        else:
            text, suggestion = request.POST.get("text", ""), request.POST.get("suggestion")
            remarks.rewrite(own, by=request.user, text=text, suggestion=suggestion)

    return _answered(request, task, act)


@login_required
@require_POST
def settle_remark(request: SignedInRequest, slug: str, user_id: str, pk: int, remark: int) -> HttpResponse:
    """Settle, or with ``open`` take up again."""
    task = _task(request, slug, user_id, pk)
    root = get_object_or_404(task.comments, pk=remark)
    settled = "open" not in request.POST
    return _answered(request, task, lambda: remarks.settle(root, by=request.user, settled=settled))


@login_required
@require_POST
def apply(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Apply the suggestions named; where the words of one have changed since, ask what shall stand there."""
    task = _task(request, slug, user_id, pk, "edit")
    keys = [key for key in map(number_of, request.POST.getlist("remark")) if key]
    try:
        done = suggestions.apply(task.pk, keys, by=request.user)
    except (WorkflowError, DraftError) as refusal:
        messages.error(request, str(refusal))
        return redirect(f"{task.get_absolute_url()}#remarks")
    if done.revision and done.revision.number != task.version:
        messages.success(request, f"Applied: this is version {done.revision.number}.")
    elif done.revision:
        messages.info(request, "The text already says that. The suggestion is resolved.")
    if not done.undecided:
        return redirect(f"{task.get_absolute_url()}#remarks")
    return redirect("studio:remark_choose", slug, user_id, pk, done.undecided[0].pk)


@login_required
def choose(request: SignedInRequest, slug: str, user_id: str, pk: int, remark: int) -> HttpResponse:
    """What shall stand where a suggestion's words have changed since: both are shown, and a person writes it."""
    task = _task(request, slug, user_id, pk, "edit")
    row = get_object_or_404(
        task.comments.select_related("author", "revision"), pk=remark, suggestion__isnull=False, applied_in=None
    )
    choice = suggestions.choice_of(row)
    text, problem, status = choice.suggested, "", 200
    if request.method == "POST":
        text = request.POST.get("text", "")
        try:
            seen = number_of(request.POST.get("version"))
            saved = suggestions.apply_as(task.pk, row.pk, text, by=request.user, version=seen)
            messages.success(request, f"Applied: this is version {saved.number}.")
            return redirect(f"{task.get_absolute_url()}#remarks")
        except (ConflictError, suggestions.SuggestionOutdatedError):
            choice = suggestions.choice_of(row)
            problem, status = "Someone changed it again while you were reading. This is the current text.", 409
        except (WorkflowError, DraftError) as refusal:
            problem, status = str(refusal), 422
    context = _frame(task) | {
        "remark": row,
        "choice": choice,
        "text": text.replace("\r\n", "\n"),
        "problem": problem,
        "change": word_pieces(row.words, row.suggestion or ""),
        "since": word_pieces(choice.was, choice.now or ""),
        "would": word_pieces(choice.now or "", choice.suggested),
    }
    return render(request, "studio/review/suggestion.html", context, status=status)


def _task(request: SignedInRequest, slug: str, user_id: str, pk: int, action: str = "comment") -> Task:
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.episode.persona.benchmark, action)
    return task


def _answered(request: SignedInRequest, task: Task, act: Callable[[], object]) -> HttpResponse:
    """Do it, and show the talk again: the list for htmx, the page for anyone else."""
    problem = ""
    try:
        act()
    except (WorkflowError, UnresolvedError) as refusal:
        problem = str(refusal)
    if not request.htmx:
        if problem:
            messages.error(request, problem)
        return redirect(f"{task.get_absolute_url()}#remarks")
    task.refresh_from_db()
    spec = load_task(task)
    context = _frame(task) | {
        "threads": threads_of(task, quotable_texts(spec.to_json())),
        "sheet": {
            "intents": [{"key": one.uid, "content": one.content} for one in spec.intents],
            "checklist": [{"key": one.uid, "criterion": one.criterion} for one in spec.checklist],
        },
        "fields": FIELDS,
        "can": access.actions_in(request.user, task.episode.persona.benchmark),
        "problem": problem,
    }
    return render(request, "studio/review/parts/comments.html", context)


def _frame(task: Task) -> dict[str, Any]:
    persona = task.episode.persona
    return {"task": task, "persona": persona, "benchmark": persona.benchmark}


def _words(request: SignedInRequest) -> Quote | None:
    """The words that were chosen in a field, as its page shows them."""
    words, before, after = (
        request.POST.get(name, "").replace("\r\n", "\n").replace("\0", "") for name in ("words", "before", "after")
    )
    return Quote(words, before, after, number_of(request.POST.get("start"))) if words else None


def _row(key: str) -> str | None:
    """The id of the row that a page calls so."""
    try:
        return str(uuid.UUID(uid_of_row(key))) if key else None
    except ValueError:
        return None
