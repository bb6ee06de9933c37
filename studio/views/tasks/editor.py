"""The task editor: everything about one task on one page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render

from studio import access
from studio.access import SignedInRequest
from studio.forms import signals
from studio.forms.files import edited_contents
from studio.forms.post_data import Posted, apply_row_operation
from studio.forms.tasks import posted_task_form, read_task_form, task_form
from studio.forms.uploads import store_uploads
from studio.models import Blob, Task
from studio.tasks.versions import spec_at
from studio.views.editing import ReadForm, draft_response
from studio.views.tasks.autosave import TaskPage, autosave_posted
from studio.views.tasks.editor_context import context, file_tokens


@login_required
def task(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The task with the user's autosaved text; POST makes a version, or returns the page with all that was typed."""
    row = access.find_task(request.user, slug, user_id, pk)
    if request.method == "POST":
        access.require(request.user, row.persona.benchmark, "edit")
        return _posted(request, row)
    return render(request, "studio/tasks/editor.html", initial_context(request, row))


def initial_context(request: SignedInRequest, row: Task) -> dict[str, Any]:
    page = TaskPage(request, row)
    number = page.draft_number()  # before the text is read: then no newer text is taken for known
    base, restored = spec_at(row, row.version), page.restored() | {"on_draft": number}
    spec = restored.pop("spec", base)
    form = restored.pop("values", None) or task_form(spec, file_tokens(row))
    return context(request, row, base, form) | restored


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
