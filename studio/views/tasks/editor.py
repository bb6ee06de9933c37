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
from studio.tasks.versions import cached_spec_at
from studio.views.editing import ReadForm, draft_response
from studio.views.tasks.autosave import TaskPage, autosave_posted, tokens_of
from studio.views.tasks.editor_context import context


@login_required
def task(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """The task with the user's autosaved text; POST makes a version, or returns the page with all that was typed."""
    row = access.find_task(request.user, slug, user_id, pk)
    if request.method == "POST":
        access.require(request.user, row.episode.persona.benchmark, "edit")
        return _posted(request, row)
    return render(request, "studio/tasks/editor.html", shown(request, row))


def shown(request: SignedInRequest, row: Task) -> dict[str, Any]:
    """The page's context when the user opens it."""
    page = TaskPage(request, row)
    base, more = cached_spec_at(row, row.version), page.restored()
    spec = more.pop("spec", base)
    sheet = more.pop("values", None) or task_form(spec, tokens_of(row))
    return context(request, row, base, sheet) | more


def _posted(request: SignedInRequest, row: Task) -> HttpResponse:
    page = TaskPage(request, row)
    base_version = page.base_version(request.POST)
    base = page.editor.versions.at(base_version)
    changed, problems = _rows_changed(request, base.trigger.payload)
    sheet = posted_task_form(Posted(changed or request.POST), base, tokens_of(row))
    Blob.objects.store(edited_contents(sheet.files))
    refused = store_uploads(request.FILES, sheet, tokens_of(row))
    if changed is None:
        spec, errors = read_task_form(sheet, base)
        form = ReadForm(spec, sheet, refused or errors)
        return draft_response(page, form, page.draft(request.POST, form))
    autosave_posted(request, row)
    sheet = replace(sheet, errors=refused or problems)
    again = context(request, row, base, sheet) | {"on_version": base_version, "dirty": True}
    return render(request, "studio/tasks/editor.html", again, status=422 if refused else 200)


def _rows_changed(request: SignedInRequest, payload: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """The form after what a button without a script asks of its rows, None if it asks nothing; and errors by input."""
    if to := signals.requested_format(request.POST):
        try:
            return signals.switch_format(request.POST, payload, to), {}
        except signals.SignalFormatError as error:
            return request.POST, {error.place: str(error)}
    return apply_row_operation(request.POST), {}
