"""The task editor: everything about one task on one page, saved as a kept version."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from studio import access, drafts, uploads
from studio.drafts import working
from studio.forms import signals
from studio.forms.file_rows import put_in, texts_of
from studio.forms.posted import Posted, number_of, operate
from studio.forms.task_sheet import Sheet, SheetErrors, call_rows, read_sheet, sheet_from, sheet_of, spec_of
from studio.history import compare
from studio.models import Benchmark, Blob, Task, User, WorkingCopy
from studio.spec.merging import merge
from studio.spec.task import TaskSpec
from studio.views.choosing import choices, decide, place_of, places
from studio.views.task_page import context

REFUSED = {"checklist": "weight", "depends_on": "task_id", "intents": "content", "assets": "path"}
"""The input of a row beside which a refusal stands."""


@login_required
def task(request: HttpRequest, slug: str, user_id: str, pk: int) -> HttpResponse:
    """Show the task, with what this person typed and made no version of; take a save, which lands as a version or
    comes back with all that was typed."""
    row = access.find_task(request.user, slug, user_id, pk)
    if request.method == "POST":
        access.require(request.user, row.episode.persona.benchmark, "edit")
        return _save(request, row)
    return render(request, "studio/task.html", shown(request, row))


def shown(request: HttpRequest, row: Task) -> dict[str, Any]:
    """The page as this person finds it."""
    base = drafts.load_task(row)
    copy = working.copy_of(row, request.user)
    more = _restored(row, base, copy) if copy and "edit" in access.actions_in(request.user, _benchmark(row)) else {}
    sheet = more.pop("sheet", None) or sheet_of(base)
    return context(request, row, base, sheet) | more


def _save(request: HttpRequest, row: Task) -> HttpResponse:
    user: User = request.user  # type: ignore[assignment]
    base_version = number_of(request.POST.get("base_version")) or row.version
    base = working.spec_at(row, base_version)
    more: dict[str, Any] = {"on_version": base_version}
    told: dict[str, str] = {}
    changed = operate(request.POST)
    if to := signals.wanted(request.POST):
        try:
            changed = signals.turned(request.POST, base.trigger.payload, to)
        except signals.CannotTurn as refusal:
            changed, told = request.POST, {refusal.place: str(refusal)}
    sheet = sheet_from(Posted(changed or request.POST), base)
    sheet.errors = told
    status = 200
    Blob.objects.keep(texts_of(sheet.assets))
    try:
        sheet.assets = put_in(sheet.assets, uploads.take_files(request.FILES.getlist("uploads"), sheet.assets))
        if changed is None:
            spec = spec_of(sheet, base)
            if "take" in request.POST or "mine" in request.POST:
                spec, undecided = decide(request.POST, drafts.load_task(row), spec)
                sheet, more["choices"] = sheet_of(spec), choices(undecided, drafts.load_task(row), spec)
            else:
                note = request.POST.get("note", "").replace("\0", "").strip()[:300]
                revision = working.save_on_top(row.pk, spec, by=user, note=note, base_version=base_version)
                working.drop_copy(row, user)
                if revision.number == row.version:
                    messages.info(request, f"It is saved already, as version {revision.number}.")
                elif row.version != base_version:
                    messages.success(request, f"Saved as version {revision.number}, with what others changed since.")
                else:
                    messages.success(request, f"Saved as version {revision.number}.")
                return redirect(row)
    except SheetErrors as refusal:
        sheet.errors, status = refusal.errors, 422
    except uploads.UploadRefused as refusal:
        sheet.errors, status = {"uploads": str(refusal)}, 422
    except drafts.DraftRefused as refusal:
        sheet.errors, status = {_input_of(refusal, sheet): str(refusal)}, 422
    except working.BothChanged as refusal:
        merged, base, status = refusal.merged.spec, refusal.theirs, 409
        sheet = call_rows(sheet_of(merged), [row["key"] for row in (*sheet.intents, *sheet.checklist)])
        more = {
            "on_version": refusal.current,
            "stale": {"version": refusal.current, "changes": compare(base, merged)},
            "choices": choices([place_of(one) for one in refusal.conflicts], base, merged),
        }
    again = context(request, row, base, sheet) | more | {"dirty": True}
    return render(request, "studio/task.html", again, status=status)


def _restored(row: Task, newest: TaskSpec, copy: WorkingCopy) -> dict[str, Any]:
    """What the page shows of words that are in no version yet, on top of the newest one; nothing if there are none."""
    data = QueryDict(mutable=True)
    for name, values in (copy.sheet or {}).items():
        data.setlist(name, values)
    base = working.spec_at(row, copy.base_version)
    sheet = sheet_from(Posted(data), base)
    spec, errors = read_sheet(sheet, base)
    if not errors and drafts.canonical(spec) == drafts.canonical(base):
        return {}
    more: dict[str, Any] = {"sheet": sheet, "on_version": copy.base_version, "restored": copy.kept_at, "dirty": True}
    if copy.base_version == row.version:
        theirs, undecided = newest, places(data.getlist("undecided"))
    elif errors:
        return more
    else:
        Blob.objects.keep(texts_of(sheet.assets))
        merged = merge(base, newest, drafts.canonical(spec))
        if merged.spec == newest:
            return {}
        theirs, spec, undecided = newest, merged.spec, [place_of(one) for one in merged.conflicts]
        more |= {"sheet": sheet_of(spec), "on_version": row.version}
    return more | {"choices": choices(undecided, theirs, spec)}


def _benchmark(row: Task) -> Benchmark:
    return row.episode.persona.benchmark


def _input_of(refusal: drafts.DraftRefused, sheet: Sheet) -> str:
    """The input a refusal stands beside; the form's head where there is none."""
    rows = getattr(sheet, refusal.field, None)
    if isinstance(rows, list) and refusal.item and refusal.item <= len(rows):
        return f"{refusal.field}.{rows[refusal.item - 1]['key']}.{REFUSED.get(refusal.field, '')}"
    return refusal.field
