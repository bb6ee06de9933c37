"""What others do with a task: submit, approve, ask for changes, remark, waive."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from studio import access, publishing
from studio.models import Task, User
from studio.views.task_page import FIELDS
from studio.views.writing import NotSettled, settle

SAID = {
    "submit": "Submitted. Someone else reads it now.",
    "withdraw": "Withdrawn: it is a draft again.",
    "approve": "Approved.",
    "request_changes": "Sent back with your words.",
    "retire": "Retired. It is kept, and can be reopened.",
    "reopen": "It is a draft again.",
}
REVIEWING = {"approve", "request_changes"}


@login_required
@require_POST
def step(request: HttpRequest, slug: str, user_id: str, pk: int, action: str) -> HttpResponse:
    """One step of the task's way; a refusal comes back as a sentence on the task's page."""
    task = access.find_task(request.user, slug, user_id, pk)
    if action not in SAID:
        raise Http404
    access.require(request.user, task.episode.persona.benchmark, "review" if action in REVIEWING else "edit")
    try:
        if action == "submit":
            settle(task, request.user)
        moved = _take(action, task, request)
    except (publishing.PublishingRefused, NotSettled) as refusal:
        messages.error(request, str(refusal))
    else:
        waiting = action == "approve" and moved.state == "in_review"
        messages.success(request, "Your yes is noted; another one is needed." if waiting else SAID[action])
    return redirect(task)


@login_required
@require_POST
def comment(request: HttpRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.episode.persona.benchmark, "comment")
    field, _, uid = request.POST.get("about", "").partition(":")
    problem = ""
    try:
        publishing.comment(
            task.pk,
            by=request.user,
            text=request.POST.get("text", ""),
            field=field if field in dict(FIELDS) else "",
            item_uid=uid if _is_uuid(uid) else None,
        )
    except publishing.PublishingRefused as refusal:
        problem = str(refusal)
    return _remarks(request, task, problem)


@login_required
@require_POST
def resolve(request: HttpRequest, slug: str, user_id: str, pk: int, remark: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.episode.persona.benchmark, "comment")
    publishing.resolve(get_object_or_404(task.comments, pk=remark), by=request.user)
    return _remarks(request, task)


@login_required
@require_POST
def waive(request: HttpRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.episode.persona.benchmark, "edit")
    try:
        publishing.waive(
            task.pk,
            request.POST.get("fingerprint", ""),
            by=request.user,
            reason=request.POST.get("reason", ""),
        )
        messages.success(request, "Waived, with your reason.")
    except publishing.PublishingRefused as refusal:
        messages.error(request, str(refusal))
    return redirect(task)


def _take(action: str, task: Task, request: HttpRequest) -> Task:
    user: User = request.user  # type: ignore[assignment]
    text = request.POST.get("text", "")
    given = request.POST.get("version", "")
    version = int(given) if given.isdigit() else None
    if action == "submit":
        return publishing.submit(task.pk, by=user, text=text)
    if action == "withdraw":
        return publishing.withdraw(task.pk, by=user)
    if action == "retire":
        return publishing.retire(task.pk, by=user)
    if action == "reopen":
        return publishing.reopen(task.pk, by=user)
    if action == "approve":
        return publishing.approve(task.pk, by=user, version=version, text=text)
    return publishing.request_changes(task.pk, by=user, text=text, version=version)


def _remarks(request: HttpRequest, task: Task, problem: str = "") -> HttpResponse:
    """The list of remarks again for htmx; anyone else goes back to the page."""
    if not request.htmx:  # type: ignore[attr-defined]
        if problem:
            messages.error(request, problem)
        return redirect(f"{task.get_absolute_url()}#remarks")
    context = {
        "task": task,
        "persona": task.episode.persona,
        "benchmark": task.episode.persona.benchmark,
        "remarks": task.comments.select_related("author", "resolved_by").order_by("created_at"),
        "fields": FIELDS,
        "can": access.actions_in(request.user, task.episode.persona.benchmark),
        "problem": problem,
    }
    return render(request, "studio/components/remarks.html", context)


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
