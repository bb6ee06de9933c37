"""Deleting a task that was never reviewed, and the tasks that were deleted lately."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html

from studio import access
from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.tasks.delete import KEPT_DAYS, delete_task, deleted_tasks, restore_task, why_not_deletable
from studio.tasks.transitions import WorkflowError


@login_required
def delete(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    persona, benchmark = task.persona, task.persona.benchmark
    access.require(request.user, benchmark, "edit")
    why_not = why_not_deletable(task)
    if request.method == "POST":
        try:
            delete_task(task, by=request.user)
        except WorkflowError as error:  # perhaps of what was done since the look above
            why_not = str(error)
        else:
            address = reverse("studio:tasks_deleted", args=[slug])
            messages.success(request, format_html("“{}” deleted. <a href='{}'>Restore it</a>", task, address))
            return redirect(persona)
    context = {"task": task, "persona": persona, "benchmark": benchmark, "why_not": why_not, "days": KEPT_DAYS}
    context |= {"versions": task.revisions.count(), "comments": task.comments.filter(deleted_at=None).count()}
    return render(request, "studio/tasks/delete.html", context, status=409 if request.method == "POST" else 200)


@login_required
def deleted(request: SignedInRequest, slug: str) -> HttpResponse:
    """POST restores ``task``."""
    benchmark = access.find_benchmark(request.user, slug)
    access.require(request.user, benchmark, "edit")
    if request.method == "POST":
        try:
            return redirect(restore_task(benchmark, number_of(request.POST.get("task")), by=request.user))
        except WorkflowError as error:
            messages.error(request, str(error))
    context = {"benchmark": benchmark, "deletions": deleted_tasks(benchmark), "days": KEPT_DAYS}
    return render(request, "studio/tasks/deleted.html", context)
