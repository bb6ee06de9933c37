"""The task editor: everything about one task on one page, saved as a kept version."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from studio import access, drafts, guidance, queries
from studio.drafts import working
from studio.forms.posted import Posted, operate
from studio.forms.task_sheet import Sheet, SheetErrors, call_rows, read_sheet, sheet_from, sheet_of, spec_of
from studio.history import compare
from studio.models import Benchmark, Blob, Category, Task, User, WorkingCopy
from studio.publishing import approvals_of, authors_of
from studio.spec.base import FileRef
from studio.spec.merging import merge
from studio.spec.task import TaskSpec
from studio.views.choosing import choices, decide, place_of, places

FIELDS = [
    ("", "the task as a whole"),
    ("initial_request", "what the user writes"),
    ("title", "the title"),
    ("description", "the description"),
    ("trigger", "the trigger"),
    ("intents", "the hidden intents"),
    ("checklist", "the checklist"),
    ("depends_on", "what it builds on"),
    ("assets", "the files"),
    ("tool_evidence", "what judges see"),
    ("reference_workflow", "the reference workflow"),
]
RECOVERIES = [
    ("session", "an earlier session"),
    ("file", "a file"),
    ("profile", "the profile"),
    ("tool", "a tool"),
    ("memory", "memory"),
    ("question", "asking"),
]
RULES = [
    ("file_contains", "the file contains"),
    ("file_lacks", "the file does not contain"),
    ("file_exists", "the file exists"),
    ("reply_contains", "the last reply contains"),
    ("reply_lacks", "the last reply does not contain"),
    ("tool_called", "the tool was called"),
]
KEPT = "studio.kept-upload"
MANY = 3_000
"""Boxes between items and intents from which on a page brings only those that are ticked; a script adds the others
when an item is opened."""


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
    base = drafts.load_task(row)
    copy = working.copy_of(row, request.user)
    more = _restored(row, base, copy) if copy and "edit" in access.actions_in(request.user, _benchmark(row)) else {}
    sheet = more.pop("sheet", None) or sheet_of(base)
    return render(request, "studio/task.html", context(request, row, base, sheet) | more)


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
    shown = context(request, row, base, sheet) | more | {"kept": kept, "dirty": True}
    return render(request, "studio/task.html", shown, status=status)


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


def context(request: HttpRequest, row: Task, base: TaskSpec, sheet: Sheet) -> dict[str, Any]:
    persona = row.episode.persona
    benchmark = persona.benchmark
    can = access.actions_in(request.user, benchmark)
    newest = row.revisions.select_related("created_by").filter(number=row.version).first()
    findings = list(queries.findings_of_task(row))
    categories = list(Category.objects.filter(taxonomy=benchmark.taxonomy_id)) if benchmark.taxonomy_id else []
    siblings = list(row.episode.tasks.order_by("position", "task_id").values("pk", "task_id", "title", "position"))
    here = next((place for place, other in enumerate(siblings) if other["pk"] == row.pk), 0)
    return {
        "task": row,
        "task_pk": str(row.pk),
        "task_name": str(row),
        "outline": _outline(sheet, base),
        "triggers": Task._meta.get_field("trigger_kind").choices,
        "recovery_kinds": RECOVERIES,
        "rule_kinds": RULES,
        "scored": _scored(sheet),
        "persona": persona,
        "benchmark": benchmark,
        "spec": base,
        "sheet": sheet,
        "can": can,
        "on_version": row.version,
        "map": working.map_evidence(row, read_sheet(sheet, base)[0]),
        "many": len(sheet.intents) * len(sheet.checklist) > MANY,
        "guide": guidance.guidelines(),
        "newest": newest,
        "findings": findings,
        "errors": sum(finding.severity == "error" for finding in findings),
        "waived": row.waivers.select_related("by"),
        "remarks": list(row.comments.select_related("author", "resolved_by").order_by("created_at")),
        "reviews": list(newest.reviews.select_related("reviewer")) if newest else [],
        "given": approvals_of(newest) if newest else 0,
        "own": bool(newest) and request.user.pk in authors_of(newest),
        "fields": FIELDS,
        "earlier": [other for other in siblings if other["pk"] != row.pk and other["position"]],
        "before": siblings[here - 1] if here else None,
        "after": siblings[here + 1] if here + 1 < len(siblings) else None,
        "unknown_category": sheet.values["category"] not in ("", *(one.code for one in categories)),
        "categories": categories,
        "groups": row.episode.groups.exclude(name="").values_list("name", flat=True),
        "tools": _names(persona.tool_bindings.values_list("name", flat=True), base.tools),
        "skills": _names(persona.skills.values_list("name", flat=True), base.skills),
        "scripts": list(persona.grader_scripts.order_by("path")),
        "script": next((one for one in persona.grader_scripts.all() if base.grader_script.endswith(one.path)), None)
        if base.grader_script
        else None,
        "versions": row.revisions.select_related("created_by")[:6],
        "state_events": row.events.select_related("actor")[:6],
    }


def _outline(sheet: Sheet, base: TaskSpec) -> list[tuple[str, str, Any]]:
    """The parts of the page, with how much each holds."""
    return [
        ("about", "Title", ""),
        ("request", "Request", ""),
        ("intents", "Intents", len(sheet.intents) or "–"),
        ("checklist", "Checklist", len(sheet.checklist) or "–"),
        ("needs", "Builds on", len(sheet.depends_on) or "–"),
        ("files", "Files", len(sheet.assets) or "–"),
        ("seen", "Judges see", len(base.files_read) + len(sheet.tool_evidence) or "–"),
        ("script", "Grader", "✓" if sheet.values["grader_script"] else "–"),
        ("reach", "Tools", len(sheet.values["tools"]) or "all"),
        ("workflow", "Reference", "✓" if sheet.values["reference_workflow"].strip() else "–"),
        ("more", "Details", ""),
    ]


def _scored(sheet: Sheet) -> dict[str, str]:
    """The numbers of the items that follow from each intent."""
    items: dict[str, list[str]] = {}
    for number, row in enumerate(sheet.checklist, 1):
        for key in row["follows_from"]:
            items.setdefault(key, []).append(str(number))
    return {key: ", ".join(numbers) for key, numbers in items.items()}


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


def _names(there: Any, picked: tuple[str, ...]) -> list[str]:
    names = list(there)
    return names + [name for name in picked if name not in names]


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0
