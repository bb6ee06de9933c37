"""Deleting a task that was never reviewed, and the tasks that were deleted lately."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html

from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.models import Benchmark, Task
from studio.tasks.delete import KEPT_DAYS, delete_task, deleted_tasks, restore_task, why_not_deletable
from studio.tasks.transitions import WorkflowError
from studio.views.pages import benchmark_page, show, task_page


@task_page("edit")
def delete(request: SignedInRequest, task: Task) -> HttpResponse:
    persona = task.persona
    why_not = why_not_deletable(task)
    if request.method == "POST":
        try:
            delete_task(task, by=request.user)
        except WorkflowError as error:  # perhaps of what was done since the look above
            why_not = str(error)
        else:
            address = reverse("studio:tasks_deleted", args=[persona.benchmark.slug])
            messages.success(request, format_html("“{}” deleted. <a href='{}'>Restore it</a>", task, address))
            return redirect(persona)
    context = {
        "why_not": why_not,
        "days": KEPT_DAYS,
        "versions": task.revisions.count(),
        "comments": task.comments.filter(deleted_at=None).count(),
    }
    return show(request, task, "studio/tasks/delete.html", context, status=409 if request.method == "POST" else 200)


@benchmark_page("edit")
def deleted(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """POST restores ``task``."""
    if request.method == "POST":
        try:
            return redirect(restore_task(benchmark, number_of(request.POST.get("task")), by=request.user))
        except WorkflowError as error:
            messages.error(request, str(error))
    context = {"deletions": deleted_tasks(benchmark), "days": KEPT_DAYS}
    return show(request, benchmark, "studio/tasks/deleted.html", context)
