"""The task editor: everything about one task on one page, and what its buttons do beside saving."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from studio.access import SignedInRequest
from studio.forms import signals
from studio.forms.files import edited_contents
from studio.forms.post_data import Posted, apply_row_operation, number_of
from studio.forms.tasks import posted_task_form, read_task_form
from studio.forms.uploads import store_uploads
from studio.models import Blob, Task
from studio.tasks.build_on import BuildOnError, build_on
from studio.tasks.create import mark_template
from studio.views.editing import ReadForm, draft_response
from studio.views.pages import task_page
from studio.views.tasks.autosave import TaskPage, UnresolvedError, autosave_posted, save_autosaved
from studio.views.tasks.editor_context import context, file_tokens


@task_page(post="edit")
def task(request: SignedInRequest, row: Task) -> HttpResponse:
    """The task with the user's autosaved text; POST makes a version, or returns the page with all that was typed."""
    if request.method == "POST":
        return _posted(request, row)
    return TaskPage(request, row).show()


def _posted(request: SignedInRequest, row: Task) -> HttpResponse:
    page = TaskPage(request, row)
    base_version = page.base_version(request.POST)
    base = page.editor.versions.at(base_version)
    changed, row_errors = _apply_row_button(request, base.trigger.payload)
    form = posted_task_form(Posted(changed or request.POST), base, file_tokens(row))
    Blob.objects.store(edited_contents(form.files))
    upload_errors = store_uploads(request.FILES, form, file_tokens(row))
    if changed is None:
        spec, errors = read_task_form(form, base)
        read = ReadForm(spec, form, upload_errors or errors)
        return draft_response(page, read, page.draft(request.POST, read))
    autosave_posted(request, row)
    form = replace(form, errors=upload_errors or row_errors)
    again = context(request, row, base, form)
    again |= {"on_version": base_version, "dirty": True, "on_draft": page.draft_number()}
    return render(request, "studio/tasks/editor.html", again, status=422 if upload_errors else 200)


def _apply_row_button(request: SignedInRequest, payload: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """The data after a row button of a page without scripts, None if there was none; and errors by input."""
    if to := signals.requested_format(request.POST):
        try:
            return signals.switch_format(request.POST, payload, to), {}
        except signals.SignalFormatError as error:
            return request.POST, {error.input_name: str(error)}
    return apply_row_operation(request.POST), {}


@task_page("edit", "POST")
def mark_as_template(request: SignedInRequest, task: Task) -> HttpResponse:
    """``marked``: 1 or empty."""
    marked = bool(request.POST.get("marked"))
    mark_template(task, by=request.user, marked=marked)
    messages.success(request, "New tasks can start from it now." if marked else "It is no longer a template.")
    return redirect(task)


@task_page("edit", "POST")
def move_scoring(request: SignedInRequest, task: Task) -> HttpResponse:
    """Build on a task that is scored on its own."""
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
