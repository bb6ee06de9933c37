"""Help from a model in the editor: asking, waiting, taking or dismissing; and the owner's choice of who helps."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.assistance import decisions, requests
from evaluation.assistance.assistant import AssistanceError, spent
from evaluation.assistance.kinds import Assignment
from evaluation.assistance.presentation import SuggestionView, suggestions, view_of
from evaluation.assistance.task_material import assign, assignment_of
from evaluation.forms import HelperForm
from evaluation.models import Helper, Suggestion
from studio import access
from studio.access import SignedInRequest
from studio.domain.task import TaskSpec
from studio.forms.tasks import uid_of_row
from studio.models import Task, TaskState
from studio.tasks.transitions import WorkflowError
from studio.views.tasks.autosave import UnresolvedError, autosave_posted, save_autosaved

AFTERWARDS, NEWER = "HX-Trigger-After-Settle", "studio:newer"
"""Tells the page that the studio has a newer version than the one it is on top of; also a page that has drawn its
findings again meanwhile, and with them the button that asked."""


@login_required
@require_POST
def ask(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Ask for help with the page as it stands: what is typed becomes a version first, so that both speak of the same.

    htmx gets the suggestion as it is now, anyone else the page with it.
    """
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.episode.persona.benchmark, "edit")
    before = _standing(task)
    try:
        autosave_posted(request, task)
        save_autosaved(request, task, note="Saved before requesting AI help")
        task.refresh_from_db(fields=["version", "state"])
        assignment, fresh = _again(request, task) or (_assignment(request, task), False)
        row = requests.ask(task, by=request.user, assignment=assignment, fresh=fresh)
    except (AssistanceError, UnresolvedError) as refusal:
        _tell_of_draft(request, task, before)
        answer = _refused(request, task, str(refusal))
    else:
        _tell_of_draft(request, task, before)
        if not request.htmx:
            return redirect(f"{task.get_absolute_url()}#suggestion-{row.pk}")
        answer = _panel(request, _view(row.pk))
    if task.version != before[0]:
        answer[AFTERWARDS] = NEWER
    return answer


@login_required
@require_http_methods(["GET", "POST"])
def suggestion(request: SignedInRequest, pk: int) -> HttpResponse:
    """How far it is; or take it, dismiss it, a row of it or all."""
    row = _mine(request, pk)
    if request.method == "GET":
        if not request.htmx:
            return redirect(f"{row.task.get_absolute_url()}#suggestion-{pk}")
        return _panel(request, view_of(row))
    autosave_posted(request, row.task)
    action, rows = _decision(request)
    typed, before = _typed(request, pk), _standing(row.task)
    done, refused = False, {}
    try:
        if action == "dismiss":
            decisions.dismiss(pk, by=request.user, rows=rows)
        else:
            over = action == "over"
            decisions.take(pk, by=request.user, rows=rows, texts=typed, over_changes=over)
        done = action != "dismiss"
    except decisions.ProposalOutdatedError as moved:
        refused = {"problem": str(moved), "conflict": (moved.row, moved.current), "typed": typed}
    except (AssistanceError, WorkflowError) as refusal:
        refused = {"problem": str(refusal), "typed": typed}
    row.task.refresh_from_db(fields=["version", "state"])
    _tell_of_draft(request, row.task, before)
    if not request.htmx:
        if refused:
            messages.error(request, str(refused["problem"]))
        return redirect(f"{row.task.get_absolute_url()}#suggestion-{pk}")
    answer = _panel(request, _view(pk, **refused))
    if done:
        answer[AFTERWARDS] = NEWER
    return answer


@login_required
@require_http_methods(["GET", "POST"])
def helper(request: SignedInRequest, slug: str) -> HttpResponse:
    """Which model helps the benchmark's authors, how much it may use, and what it was asked lately."""
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "manage")
    row = Helper.objects.filter(benchmark=benchmark).first() or Helper(benchmark=benchmark)
    form = HelperForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        saved = form.save(commit=False)
        saved.changed_by = request.user
        saved.save()
        messages.success(request, f"AI help is on, using {saved.endpoint}." if saved.endpoint else "AI help is off.")
        return redirect("evaluation:helper", slug)
    asked = Suggestion.objects.filter(task__episode__persona__benchmark=benchmark)
    context = {
        "benchmark": benchmark,
        "form": form,
        "helper": row,
        "spent": spent(row) if row.pk else None,
        "asked": asked.select_related("task__episode__persona__benchmark", "asked_by", "endpoint")[:20],
        "total": asked.aggregate(prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"), cost=Sum("cost")),
    }
    request.room = "benchmarks"
    return render(request, "evaluation/helper.html", context, status=422 if form.errors else 200)


def _assignment(request: SignedInRequest, task: Task) -> Assignment:
    """``ask`` says ``kind:field`` or ``kind:field:row``; what it needs besides stands in fields of its own."""
    kind, _, rest = request.POST.get("ask", "").partition(":")
    field, _, key = rest.partition(":")
    spec = TaskSpec.model_validate(task.revisions.get(number=task.version).spec)
    return assign(
        spec,
        kind,
        request.POST.get("assist.what", field) if kind == "translate" else field,
        uid=uid_of_row(key) if key else "",
        language=request.POST.get("assist.language", ""),
        reference=request.POST.get("assist.reference", ""),
        pasted=request.POST.get("assist.pasted", "").replace("\0", "").replace("\r\n", "\n"),
    )


def _again(request: SignedInRequest, task: Task) -> tuple[Assignment, bool] | None:
    """What was asked before, of the task as it is now; of an answer that is there another one is wanted."""
    again = request.POST.get("again", "")
    if not again.isdecimal() or len(again) > 15:
        return None
    row = get_object_or_404(Suggestion, pk=int(again), task=task)
    spec = TaskSpec.model_validate(task.revisions.get(number=task.version).spec)
    return assignment_of(row, spec), row.state != Suggestion.State.FAILED


def _decision(request: SignedInRequest) -> tuple[str, list[int] | None]:
    """``decide`` says ``take``, ``over`` or ``dismiss``, and of which row; none: of all."""
    action, _, row = request.POST.get("decide", "").partition(":")
    if action not in ("take", "over", "dismiss"):
        raise Http404
    return action, [int(row)] if row.isdecimal() and len(row) < 5 else None


def _typed(request: SignedInRequest, pk: int) -> dict[int, str]:
    """The words in a suggestion's fields, by row."""
    prefix = f"assist.{pk}."
    return {
        int(name[len(prefix) :]): value
        for name, value in request.POST.items()
        if re.fullmatch(rf"{re.escape(prefix)}\d{{1,4}}", name) and isinstance(value, str)
    }


def _mine(request: SignedInRequest, pk: int) -> Suggestion:
    """A suggestion for a task one may edit; else 404."""
    row: Suggestion = get_object_or_404(suggestions(), pk=pk)
    try:
        access.require(request.user, row.task.episode.persona.benchmark, "edit")
    except PermissionDenied:
        raise Http404 from None
    return row


def _view(pk: int, **more: Any) -> SuggestionView:
    return view_of(suggestions().get(pk=pk), **more)


def _standing(task: Task) -> tuple[int, str]:
    return task.version, task.state


def _tell_of_draft(request: SignedInRequest, task: Task, before: tuple[int, str]) -> None:
    """Nobody loses an approval, or a review that is under way, without a word."""
    version, state = before
    if state != task.state:
        was = TaskState(state).label.lower()
        words = (
            f"Version {version} was {was}. Version {task.version} is a draft: submit it for review when it is ready."
        )
        messages.warning(request, words)


def _panel(request: SignedInRequest, view: SuggestionView) -> HttpResponse:
    return render(request, "evaluation/parts/suggestion_answer.html", _frame(view.suggestion.task) | {"view": view})


def _refused(request: SignedInRequest, task: Task, problem: str) -> HttpResponse:
    if not request.htmx:
        messages.error(request, problem)
        return redirect(task)
    return render(request, "evaluation/parts/suggestion_answer.html", _frame(task) | {"problem": problem})


def _frame(task: Task) -> dict[str, Any]:
    persona = task.episode.persona
    return {"task": task, "persona": persona, "benchmark": persona.benchmark}
