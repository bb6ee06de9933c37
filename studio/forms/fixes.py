"""A one-click mend as changes of the editor's inputs, for a script that does them and can undo them."""

from __future__ import annotations

from typing import Any

from studio.domain.fixes import AppendRow, Edit, Fix, RemoveRow, SetValue
from studio.domain.task import Dependency, Recovery
from studio.forms.tasks import LINES, TaskForm

Change = dict[str, Any]


def changes_of(mend: Fix, sheet: TaskForm) -> list[Change]:
    """``{put: input, value}``, ``{remove: list, row: key}`` or ``{add: list, values}``; nothing where the sheet has no
    such row, as while somebody else removes it."""
    try:
        return [change for edit in mend.edits for change in _changes(edit, sheet)]
    except IndexError:
        return []


def _changes(edit: Edit, sheet: TaskForm) -> list[Change]:
    if isinstance(edit, RemoveRow):
        return [{"remove": edit.field, "row": _key(sheet, edit.field, edit.item)}]
    if isinstance(edit, AppendRow):
        return [_added(edit, sheet)]
    return _put(edit, sheet)


def _added(edit: AppendRow, sheet: TaskForm) -> Change:
    if isinstance(edit.value, Recovery):
        key = _key(sheet, "intents", edit.item or 0)
        return {"add": f"intents.{key}.from", "values": edit.value.model_dump()}
    if isinstance(edit.value, Dependency):
        return {"add": edit.field, "values": edit.value.model_dump()}
    text = sheet.values[edit.field]
    return {"put": edit.field, "value": f"{text}\n{edit.value}".lstrip("\n")}


def _put(edit: SetValue, sheet: TaskForm) -> list[Change]:
    if edit.field in LINES and edit.item:
        lines = [line for line in sheet.values[edit.field].split("\n") if line.strip()]
        lines[edit.item - 1] = edit.value
        return [{"put": edit.field, "value": "\n".join(lines)}]
    if edit.item is None:
        return [{"put": edit.field, "value": edit.value}]
    row = f"{edit.field}.{_key(sheet, edit.field, edit.item)}"
    if edit.part == "rule":
        parts = {f"rule_{name}": edit.value[name] for name in ("kind", "path", "text", "tool")}
        return [{"put": f"{row}.{name}", "value": value} for name, value in ({"grader": "rule"} | parts).items()]
    value = f"{edit.value:g}" if isinstance(edit.value, float) else edit.value
    return [{"put": f"{row}.{edit.part}", "value": value}]


def _key(sheet: TaskForm, field: str, item: int) -> str:
    rows = getattr(sheet, field)
    if field == "depends_on":
        rows = [row for row in rows if row["task_id"]]
    if item < 1:
        raise IndexError(item)
    return str(rows[item - 1]["key"])
