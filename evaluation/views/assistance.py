"""Proposals in the task editor, and the owner's assistance settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast, get_args

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.assistance import decisions, requests
from evaluation.assistance.assistant import AssistanceError, usage_of
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.presentation import ProposalView, build_view, proposals_with_details
from evaluation.assistance.proposals import IntentChoice
from evaluation.assistance.task_material import build_request, request_of
from evaluation.forms.choices import AssistantModelForm
from evaluation.models import AssistantModel, Proposal, SecondOpinion
from evaluation.pilots.budgets import lacks_worst_price
from studio import access
from studio.access import SignedInRequest
from studio.domain.task import Scope, TaskSpec
from studio.forms.tasks import uid_of_row
from studio.models import Task, TaskState
from studio.tasks.transitions import WorkflowError
from studio.views.tasks.autosave import UnresolvedError, autosave_posted, save_autosaved

TRIGGER_HEADER, NEWER_VERSION = "HX-Trigger-After-Settle", "studio:newer"
"""Tells the page that a newer version was saved. After settling, because the swap may replace the button that made the
request."""


@require_POST
def request_proposal(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Save the page's text as a version first, so that the proposal is about what the author sees."""
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.persona.benchmark, "edit")
    before = _version_and_state(task)
    try:
        autosave_posted(request, task)
        save_autosaved(request, task, note="Saved before requesting AI help")
        task.refresh_from_db(fields=["version", "state"])
        wanted, fresh = _repeated_request(request, task) or (_new_request(request, task), False)
        row = requests.request_proposal(task, by=request.user, request=wanted, fresh=fresh)
    except (AssistanceError, UnresolvedError) as error:
        _warn_of_draft(request, task, before)
        response = _problem(request, task, str(error))
    else:
        _warn_of_draft(request, task, before)
        if not request.htmx:
            return redirect(f"{task.get_absolute_url()}#proposal-{row.pk}")
        response = _panel(request, _view(row.pk))
    if task.version != before[0]:
        response[TRIGGER_HEADER] = NEWER_VERSION
    return response


@require_http_methods(["GET", "POST"])
def proposal(request: SignedInRequest, pk: int) -> HttpResponse:
    row = _find(request, pk)
    if request.method == "GET":
        if not request.htmx:
            return redirect(f"{row.task.get_absolute_url()}#proposal-{pk}")
        return _panel(request, build_view(row))
    autosave_posted(request, row.task)
    action, rows = _decision(request)
    typed, before = _typed(request, pk), _version_and_state(row.task)
    choices = _choices(request, pk, typed)
    done, shown = False, dict[str, Any](typed=typed, choices=choices)
    try:
        if action == "dismiss":
            decisions.dismiss_proposal(pk, by=request.user, rows=rows)
        else:
            over = action == "over"
            decisions.accept_proposal(pk, by=request.user, rows=rows, texts=typed, choices=choices, over_changes=over)
        done = action != "dismiss"
    except decisions.ProposalOutdatedError as error:
        shown |= {"problem": str(error), "conflict": (error.row, error.current)}
    except (AssistanceError, WorkflowError) as error:
        shown["problem"] = str(error)
    row.task.refresh_from_db(fields=["version", "state"])
    _warn_of_draft(request, row.task, before)
    if not request.htmx:
        if "problem" in shown:
            messages.error(request, str(shown["problem"]))
        return redirect(f"{row.task.get_absolute_url()}#proposal-{pk}")
    response = _panel(request, _view(pk, **shown))
    if done:
        response[TRIGGER_HEADER] = NEWER_VERSION
    return response


@require_http_methods(["GET", "POST"])
def assistance_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = access.find_benchmark(request.user, slug, "manage")
    row = AssistantModel.objects.filter(benchmark=benchmark).first() or AssistantModel(benchmark=benchmark)
    form = AssistantModelForm(request.POST or None, instance=row, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        saved = form.save(commit=False)
        saved.changed_by = request.user
        saved.save()
        messages.success(request, f"AI help is on, using {saved.endpoint}." if saved.endpoint else "AI help is off.")
        return redirect("evaluation:assistance_settings", slug)
    requested = Proposal.objects.filter(task__persona__benchmark=benchmark)
    context = {
        "benchmark": benchmark,
        "form": form,
        "assistant": row,
        "usage": usage_of(row) if row.pk else None,
        "loose": row.endpoint is not None and bool(row.max_cost) and lacks_worst_price(row.endpoint),
        "opinions": SecondOpinion.objects.filter(benchmark=benchmark).count(),
        "proposals": requested.select_related("task__persona__benchmark", "requested_by", "endpoint")[:20],
    }
    return render(request, "evaluation/assistance/settings.html", context, status=422 if form.errors else 200)


def _new_request(request: SignedInRequest, task: Task) -> ProposalRequest:
    """``ask`` is ``kind:field`` or ``kind:field:row``; options have fields of their own."""
    kind, _, rest = request.POST.get("ask", "").partition(":")
    field, _, key = rest.partition(":")
    spec = TaskSpec.model_validate(task.revisions.get(number=task.version).spec)
    return build_request(
        spec,
        kind,
        request.POST.get("assist.what", field) if kind == "translate" else field,
        uid=uid_of_row(key) if key else "",
        language=request.POST.get("assist.language", ""),
        reference=request.POST.get("assist.reference", ""),
        pasted=request.POST.get("assist.pasted", "").replace("\0", "").replace("\r\n", "\n"),
    )


def _repeated_request(request: SignedInRequest, task: Task) -> tuple[ProposalRequest, bool] | None:
    """The request of an earlier proposal, for the current version, and whether a new answer is wanted: not if it
    failed."""
    again = request.POST.get("again", "")
    if not again.isdecimal() or len(again) > 15:
        return None
    row = get_object_or_404(Proposal, pk=int(again), task=task)
    spec = TaskSpec.model_validate(task.revisions.get(number=task.version).spec)
    return request_of(row, spec, read=False), row.state != Proposal.State.FAILED


def _decision(request: SignedInRequest) -> tuple[str, list[int] | None]:
    """``decide`` is ``take``, ``over`` or ``dismiss``, with ``:row`` for a single row."""
    action, _, row = request.POST.get("decide", "").partition(":")
    if action not in ("take", "over", "dismiss"):
        raise Http404
    return action, [int(row)] if row.isdecimal() and len(row) < 5 else None


def _typed(request: SignedInRequest, pk: int) -> dict[int, str]:
    prefix = f"assist.{pk}."
    return {
        int(name[len(prefix) :]): value
        for name, value in request.POST.items()
        if re.fullmatch(rf"{re.escape(prefix)}\d{{1,4}}", name) and isinstance(value, str)
    }


def _choices(request: SignedInRequest, pk: int, rows: Iterable[int]) -> dict[int, IntentChoice]:
    chosen = {}
    for row in rows:
        scope = request.POST.get(f"assist.{pk}.{row}.scope", "")
        source = request.POST.get(f"assist.{pk}.{row}.source", "")
        chosen[row] = IntentChoice(cast(Any, scope) if scope in get_args(Scope) else "", source)
    return chosen


def _find(request: SignedInRequest, pk: int) -> Proposal:
    row: Proposal = get_object_or_404(proposals_with_details(), pk=pk)
    access.require(request.user, row.task.persona.benchmark, "edit")
    return row


def _view(pk: int, **more: Any) -> ProposalView:
    return build_view(proposals_with_details().get(pk=pk), **more)


def _version_and_state(task: Task) -> tuple[int, str]:
    return task.version, task.state


def _warn_of_draft(request: SignedInRequest, task: Task, before: tuple[int, str]) -> None:
    version, state = before
    if state != task.state:
        was = TaskState(state).label.lower()
        warning = (
            f"Version {version} was {was}. Version {task.version} is a draft: submit it for review when it is ready."
        )
        messages.warning(request, warning)


def _panel(request: SignedInRequest, view: ProposalView) -> HttpResponse:
    return render(request, "evaluation/assistance/response.html", _page_context(view.proposal.task) | {"view": view})


def _problem(request: SignedInRequest, task: Task, problem: str) -> HttpResponse:
    if not request.htmx:
        messages.error(request, problem)
        return redirect(task)
    return render(request, "evaluation/assistance/response.html", _page_context(task) | {"problem": problem})


def _page_context(task: Task) -> dict[str, Any]:
    persona = task.persona
    return {"task": task, "persona": persona, "benchmark": persona.benchmark}
