"""The task editor: everything about one task on one page, saved as a kept version."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from studio import access, drafts
from studio.drafts import working
from studio.forms.posted import Posted, operate
from studio.forms.task_sheet import Sheet, SheetErrors, call_rows, read_sheet, sheet_from, sheet_of, spec_of
from studio.history import compare
from studio.models import Benchmark, Blob, Task, User, WorkingCopy
from studio.spec.base import FileRef
from studio.spec.merging import merge
from studio.spec.task import TaskSpec
from studio.views.choosing import choices, decide, place_of, places
from studio.views.task_page import context

KEPT = "studio.kept-upload"


class UploadRefused(ValueError):
    """A file that cannot be added; the text says why."""


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
    base_version = _number(request.POST.get("base_version")) or row.version
    base = working.spec_at(row, base_version)
    changed = operate(request.POST)
    sheet = sheet_from(Posted(changed or request.POST), base)
    more: dict[str, Any] = {"on_version": base_version}
    status, added = 200, []
    try:
        added = _added(request)
        if changed is None:
            spec = spec_of(sheet, base, added)
            if "take" in request.POST or "mine" in request.POST:
                spec, undecided = decide(request.POST, drafts.load_task(row), spec)
                sheet, more["choices"] = sheet_of(spec), choices(undecided, drafts.load_task(row), spec)
            else:
                note = request.POST.get("note", "").replace("\0", "").strip()[:300]
                revision = working.save_on_top(row.pk, spec, by=user, note=note, base_version=base_version)
                working.drop_copy(row, user)
                if revision.number == row.version:
                    messages.info(request, "Nothing had changed, so no version was made.")
                elif row.version != base_version:
                    messages.success(request, f"Saved as version {revision.number}, with what others changed since.")
                else:
                    messages.success(request, f"Saved as version {revision.number}.")
                return redirect(row)
    except SheetErrors as refusal:
        sheet.errors, status = refusal.errors, 422
    except UploadRefused as refusal:
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
    kept = [(file, signing.dumps([file.path, file.sha256, file.size], salt=KEPT)) for file in added]
    again = context(request, row, base, sheet) | more | {"kept": kept, "dirty": True}
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
        merged = merge(base, newest, drafts.canonical(spec))
        if merged.spec == newest:
            return {}
        theirs, spec, undecided = newest, merged.spec, [place_of(one) for one in merged.conflicts]
        more |= {"sheet": sheet_of(spec), "on_version": row.version}
    return more | {"choices": choices(undecided, theirs, spec)}


def _benchmark(row: Task) -> Benchmark:
    return row.episode.persona.benchmark


def _added(request: HttpRequest) -> list[FileRef]:
    """Files handed over now, and those kept from an earlier try. Stored by content at once: nothing is lost."""
    added: dict[str, FileRef] = {}
    for token in request.POST.getlist("kept"):
        try:
            path, sha, size = signing.loads(token, salt=KEPT)
        except signing.BadSignature:
            continue
        added[path] = FileRef(path=path, sha256=sha, size=size)
    for file in request.FILES.getlist("uploads"):
        name = (file.name or "").strip()
        if name in ("", ".", "..", "task.yaml") or "/" in name or "\\" in name:
            raise UploadRefused(f"A file cannot be called “{name}” here: rename it.")
        if (file.size or 0) > settings.UPLOAD_MAX_FILE_BYTES:
            raise UploadRefused(f"“{name}” is larger than {settings.UPLOAD_MAX_FILE_BYTES // 1_000_000} MB.")
        content = file.read()
        added[name] = FileRef(path=name, sha256=Blob.objects.keep([content])[0], size=len(content))
    return list(added.values())


def _input_of(refusal: drafts.DraftRefused, sheet: Sheet) -> str:
    """The input a refusal stands beside; the form's head where there is none."""
    rows = getattr(sheet, refusal.field, None)
    if isinstance(rows, list) and refusal.item and refusal.item <= len(rows):
        inner = {"checklist": "weight", "depends_on": "task_id", "intents": "content"}.get(refusal.field, "")
        return f"{refusal.field}.{rows[refusal.item - 1]['key']}.{inner}"
    return refusal.field


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0
