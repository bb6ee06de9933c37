"""Tables of a persona's app data: edited as a grid, imported with a preview, downloaded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from studio.access import SignedInRequest
from studio.domain.app_tables.cells import Record, write_cell
from studio.domain.app_tables.declared import RecordFlaw
from studio.domain.app_tables.table_files import MAX_BYTES, TableFileError, read_table_file, write_json, write_table
from studio.domain.phrases import count_of
from studio.drafts.validate import DraftError, StaleDraftError
from studio.files.downloads import download
from studio.forms.app_tables import blank_row, posted_cells, posted_rows, shown_indices, stored_rows
from studio.forms.post_data import apply_row_operation
from studio.models import Persona
from studio.personas.app_tables import (
    AppRecords,
    check_table,
    edit_records,
    flaws_in_words,
    load_records,
    merge_records,
    record_names,
    rows_after_merge,
    save_table,
    validate_room,
)
from studio.views.pages import page_of, persona_page, place_of, show

PER_PAGE = 25
SHOWN_FLAWS = 50
PREVIEWED = 10
MOVED_ON = (
    "This table was changed in the meantime, in another window or by somebody else. Copy what you typed, then open the "
    "page again."
)


@persona_page("view", "GET", "POST", post="edit")
def table(request: SignedInRequest, persona: Persona, app: str, table: str) -> HttpResponse:
    found = _find(persona, app, table)
    if request.method == "GET":
        return _grid(request, persona, found)
    changed = apply_row_operation(request.POST)
    if changed is not None:
        return _grid(request, persona, found, typed=changed)
    if request.POST.get("digest") != found.digest:
        return _grid(request, persona, found, typed=request.POST, error=MOVED_ON)
    cells = posted_cells(found.table, request.POST)
    records, flaws = edit_records(found, shown_indices(request.POST), cells)
    if flaws:
        return _grid(request, persona, found, typed=request.POST, flaws=flaws)
    try:
        left = save_table(persona, found, records, by=request.user, base_version=persona.version)
    except (DraftError, StaleDraftError) as error:
        return _grid(request, persona, found, typed=request.POST, error=str(error))
    _say_saved(request, f"Saved the {found.table.name} of {found.title}.", left)
    return redirect(request.get_full_path())


@persona_page("edit", "GET", "POST")
def import_table(request: SignedInRequest, persona: Persona, app: str, table: str) -> HttpResponse:
    """A file or pasted text is shown first; what was shown is then saved, or nothing."""
    found = _find(persona, app, table)
    context = _context(persona, found) | {"mode": "add", "max_bytes": MAX_BYTES}
    if request.method == "GET":
        return show(request, persona, "studio/personas/app_import.html", context)
    mode = "replace" if request.POST.get("mode") == "replace" else "add"
    context["mode"] = mode
    upload = request.FILES.get("file")
    try:
        if upload is not None and (upload.size or 0) > MAX_BYTES:
            raise TableFileError(f"This file has {upload.size:,} bytes; a table has at most {MAX_BYTES:,}.")
        content = upload.read() if upload is not None else request.POST.get("content", "").encode("utf-8", "replace")
        if upload is None and not content.strip():
            raise TableFileError("Choose a file, or paste the table here.")
        read = read_table_file(found.table, content, shown="save" in request.POST)
    except TableFileError as error:
        context |= {"error": str(error), "content": "" if upload else request.POST.get("content", "")}
        return show(request, persona, "studio/personas/app_import.html", context, status=422)
    flaws = list(read.flaws)
    records = merge_records(found, read.records) if mode == "add" and not flaws else list(read.records)
    if not flaws:
        flaws = _of_file(found, read.records, check_table(found, records), mode)
    serious = any(flaw.serious for flaw in flaws)
    if not serious:
        try:
            validate_room(found, records)
        except DraftError as error:
            serious, context["error"] = True, f"{error} Leave out records or columns."
    if "save" in request.POST and not serious:
        try:
            if request.POST.get("digest") != found.digest:
                raise DraftError("text", MOVED_ON)
            left = save_table(persona, found, records, by=request.user, base_version=persona.version)
        except (DraftError, StaleDraftError) as error:
            context["error"] = str(error)
        else:
            what = f"Imported {count_of(len(read.records), 'record')} into the {table} of {found.title}."
            _say_saved(request, what, left)
            return redirect(context["here"])
    keys = {str(record.get(found.table.key.name)) for record in found.records}
    replaced = sum(str(record.get(found.table.key.name)) in keys for record in read.records)
    fields = [field for field in found.table.fields if field.name in read.columns]
    first = read.records[:PREVIEWED]
    context |= {
        "read": read,
        "preview": [[write_cell(field, record.get(field.name)) for field in fields] for record in first],
        "columns": fields,
        "flaws": flaws[:SHOWN_FLAWS],
        "more_flaws": max(0, len(flaws) - SHOWN_FLAWS),
        "serious": serious,
        "count": len(read.records),
        "replaced": replaced,
        "added": len(read.records) - replaced,
        "before": len(found.records),
        "content": json.dumps(list(read.records), ensure_ascii=False) if read.records else "[]",
    }
    status = 422 if serious or "error" in context else 200
    return show(request, persona, "studio/personas/app_import.html", context, status=status)


@persona_page("view", "GET", "HEAD")
def export_table(request: SignedInRequest, persona: Persona, app: str, table: str, kind: str) -> HttpResponse:
    found = _find(persona, app, table)
    if kind not in ("csv", "json"):
        raise Http404
    text = write_table(found.table, found.records) if kind == "csv" else write_json(found.records)
    mark = "\ufeff" if kind == "csv" else ""  # spreadsheets take the text for UTF-8
    return download(f"{app}-{table}.{kind}", (mark + text).encode())


@persona_page("view", "GET", "HEAD")
def names(request: SignedInRequest, persona: Persona) -> JsonResponse:
    """Records of the apps, for those who write about them."""
    return JsonResponse({"records": record_names(persona)})


def _find(persona: Persona, app: str, table: str) -> AppRecords:
    try:
        return load_records(persona, app, table)
    except KeyError:
        raise Http404 from None


def _context(persona: Persona, found: AppRecords) -> dict[str, Any]:
    here = reverse("studio:app_table", args=[*place_of(persona), found.app, found.table.name])
    return {"found": found, "table": found.table, "here": here}


def _grid(
    request: SignedInRequest,
    persona: Persona,
    found: AppRecords,
    *,
    typed: QueryDict | None = None,
    flaws: list[tuple[int, RecordFlaw]] | None = None,
    error: str = "",
) -> HttpResponse:
    words = request.GET.get("q", "").casefold().split()
    rows = [
        (index, record)
        for index, record in enumerate(found.records)
        if all(word in json.dumps(record, ensure_ascii=False).casefold() for word in words)
    ]
    page = page_of(rows, PER_PAGE, request.GET.get("page"))
    stored_flaws = found.flaws()
    if typed is None:
        grid = stored_rows(found.table, page.object_list, stored_flaws)
        shown = ",".join(str(index) for index, _ in page.object_list)
    else:
        grid, shown = posted_rows(found.table, typed, flaws or ()), typed.get("shown", "")
    context = _context(persona, found) | {
        "rows": grid,
        "blank": blank_row(found.table),
        "page": page,
        "shown": shown,
        "digest": found.digest if typed is None else typed.get("digest", ""),
        "q": request.GET.get("q", ""),
        "query": urlencode({"q": request.GET["q"]}) if request.GET.get("q") else "",
        "choices": found.choices(),
        "dangling": stored_flaws[:20] if typed is None else [],
        "wrong": len(flaws or ()),
        "error": error,
        "typed": typed is not None,
    }
    status = 422 if error or flaws else 200
    return show(request, persona, "studio/personas/app_table.html", context, status=status)


def _of_file(found: AppRecords, records: Sequence[Record], flaws: Sequence[RecordFlaw], mode: str) -> list[RecordFlaw]:
    """With rows as the file counts them; of records that were there before, only what prevents saving."""
    rows = rows_after_merge(found, records) if mode == "add" else {row: row for row in range(1, len(records) + 1)}
    own = [flaw for flaw in flaws if flaw.table == found.table.name]
    here = [replace(flaw, row=rows[flaw.row]) for flaw in own if flaw.row in rows]
    others = [flaw for flaw in own if flaw.serious and flaw.row not in rows]
    elsewhere = [flaw for flaw in flaws if flaw.table != found.table.name]
    return [*sorted(here, key=lambda flaw: flaw.row), *others, *elsewhere]


def _say_saved(request: SignedInRequest, what: str, left: list[RecordFlaw]) -> None:
    messages.success(request, what)
    if left:
        messages.warning(request, f"To fix: {flaws_in_words(left)}")
