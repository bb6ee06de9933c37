"""The task editor: everything about one task on one page, saved as a kept version."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

from studio import access
from studio.access import SignedInRequest
from studio.drafts import autosave
from studio.drafts.autosave import Desk
from studio.drafts.load import load_task
from studio.drafts.rebase import ConflictError
from studio.drafts.validate import DraftError
from studio.forms import signals
from studio.forms.files import texts_of
from studio.forms.post_data import Posted, number_of, operate
from studio.forms.tasks import Sheet, TaskFormError, sheet_from, sheet_of, spec_of
from studio.forms.uploads import take_all
from studio.models import Blob, Task
from studio.tasks import editor
from studio.views.autosave import conflict, words_of
from studio.views.conflicts import choices, decide, places
from studio.views.tasks.autosave import TaskPage, keep_posted, sheet_after
from studio.views.tasks.editor_context import context

REFUSED = {
    "checklist": "weight",
    "depends_on": "task_id",
    "intents": "content",
    "assets": "path",
    "expected_artifacts": "path",
}
"""The input of a row beside which a refusal stands."""


@login_required
def task(request: SignedInRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Show the task, with what this person typed and made no version of; take a save, which lands as a version or
    comes back with all that was typed."""
    row = access.find_task(request.user, slug, user_id, pk)
    if request.method == "POST":
        access.require(request.user, row.episode.persona.benchmark, "edit")
        return _save(request, row)
    return render(request, "studio/tasks/editor.html", shown(request, row))


def shown(request: SignedInRequest, row: Task) -> dict[str, Any]:
    """The page as this person finds it."""
    page = TaskPage(request, row)
    base, more = editor.spec_shown(row, row.version), page.restored()
    spec = more.pop("spec", base)
    sheet = more.pop("sheet", None) or sheet_of(spec)
    return context(request, row, base, sheet) | more


def _save(request: SignedInRequest, row: Task) -> HttpResponse:
    user = request.user
    base_version = number_of(request.POST.get("base_version")) or row.version
    base = editor.spec_at(row, base_version)
    more: dict[str, Any] = {"on_version": base_version}
    told: dict[str, str] = {}
    changed = operate(request.POST)
    if to := signals.wanted(request.POST):
        try:
            changed = signals.turned(request.POST, base.trigger.payload, to)
        except signals.SignalFormatError as refusal:
            changed, told = request.POST, {refusal.place: str(refusal)}
    sheet = sheet_from(Posted(changed or request.POST), base)
    sheet.errors = told
    status = 200
    Blob.objects.keep(texts_of(sheet.files))
    try:
        if told := take_all(request.FILES, sheet):
            raise TaskFormError(told)
        if changed is None:
            spec = spec_of(sheet, base)
            if "take" in request.POST or "mine" in request.POST:
                newest = load_task(row)
                spec, undecided = decide(request.POST, newest, spec)
                sheet, more["choices"] = sheet_after(spec, sheet), choices(undecided, newest, spec)
            else:
                note = request.POST.get("note", "").replace("\0", "").strip()[:300]
                revision = editor.save_on_top(
                    row.pk,
                    spec,
                    by=user,
                    note=note,
                    base_version=base_version,
                    undecided=places(request.POST.getlist("undecided"), spec),
                )
                autosave.drop_copy(Desk(task=row), user, settled=words_of(request.POST))
                if revision.number == row.version:
                    messages.info(request, f"Already saved as version {revision.number}.")
                elif row.version != base_version:
                    messages.success(request, f"Saved as version {revision.number}, merged with changes saved since.")
                else:
                    messages.success(request, f"Saved as version {revision.number}.")
                return redirect(row)
    except TaskFormError as refusal:
        sheet.errors, status = refusal.errors, 422
    except DraftError as refusal:
        sheet.errors, status = {_input_of(refusal, sheet): str(refusal)}, 422
    except ConflictError as refusal:
        both, status = refusal.both, 409
        base, more = both.theirs, conflict(both, base_version)
        sheet = sheet_after(both.spec, sheet)
    keep_posted(request, row)
    again = context(request, row, base, sheet) | more | {"dirty": True}
    return render(request, "studio/tasks/editor.html", again, status=status)


def _input_of(refusal: DraftError, sheet: Sheet) -> str:
    """The input a refusal stands beside; the form's head where there is none."""
    rows = getattr(sheet, refusal.field, None)
    if isinstance(rows, list) and refusal.item and refusal.item <= len(rows):
        return f"{refusal.field}.{rows[refusal.item - 1]['key']}.{REFUSED.get(refusal.field, '')}"
    return refusal.field
