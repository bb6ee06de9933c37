"""Building on a task that is scored on its own."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from studio import access
from studio.access import SignedInRequest
from studio.forms.post_data import number_of
from studio.tasks.build_on import BuildOnError, build_on
from studio.views.tasks.autosave import UnresolvedError, save_autosaved


@login_required
@require_POST
def move_scoring(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    task = access.find_task(request.user, slug, user_id, pk)
    access.require(request.user, task.persona.benchmark, "edit")
    try:
        save_autosaved(request, task, note="Saved before it was made to build on another task")
        moved = build_on(task.pk, number_of(request.POST.get("earlier")), by=request.user)
    except (BuildOnError, UnresolvedError) as error:
        messages.error(request, str(error))
    else:
        what = f"{moved.items} item{'' if moved.items == 1 else 's'}" if moved.items else ""
        parts = " and ".join(part for part in (what, "the grader script" if moved.script else "") if part)
        messages.success(request, f"This task builds on “{moved.earlier}” now, and {parts} moved here from it.")
    return redirect(f"{task.get_absolute_url()}#needs")
