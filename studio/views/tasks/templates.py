"""A task is marked as a template, or no longer."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.tasks.templates import mark_template


@login_required
@require_POST
def mark(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """``marked``: 1 or empty."""
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.persona.benchmark, "edit")
    marked = bool(request.POST.get("marked"))
    mark_template(task, by=request.user, marked=marked)
    messages.success(request, "New tasks can start from it now." if marked else "It is no longer a template.")
    return redirect(task)
