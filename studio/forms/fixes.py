"""A one-click fix as changes of the editor's inputs, which a script applies and can undo."""

from __future__ import annotations

from typing import Any

from studio.domain.fixes import AppendRow, Edit, Fix, RemoveRow, SetValue
from studio.domain.rule_values import write_values
from studio.domain.task import Dependency, ExactCheck, Recovery
from studio.forms.tasks import LINES, TaskForm

Change = dict[str, Any]


def changes_of(fix: Fix, form: TaskForm) -> list[Change]:
    """Each ``{put: input, value}``, ``{remove: list, row: key}`` or ``{add: list, values}``; none if a row the fix
    concerns is gone."""
    try:
        return [change for edit in fix.edits for change in _changes(edit, form)]
    except IndexError:
        return []


def _changes(edit: Edit, form: TaskForm) -> list[Change]:
    if isinstance(edit, RemoveRow):
        return [{"remove": edit.field, "row": _key(form, edit.field, edit.item)}]
    if isinstance(edit, AppendRow):
        return [_added(edit, form)]
    return _put(edit, form)


def _added(edit: AppendRow, form: TaskForm) -> Change:
    if isinstance(edit.value, Recovery):
        key = _key(form, "intents", edit.item or 0)
        return {"add": f"intents.{key}.from", "values": edit.value.model_dump()}
    if isinstance(edit.value, Dependency):
        return {"add": edit.field, "values": edit.value.model_dump()}
    text = form.values[edit.field]
    return {"put": edit.field, "value": f"{text}\n{edit.value}".lstrip("\n")}


def _put(edit: SetValue, form: TaskForm) -> list[Change]:
    if edit.field in LINES and edit.item:
        lines = [line for line in form.values[edit.field].split("\n") if line.strip()]
        lines[edit.item - 1] = edit.value
        return [{"put": edit.field, "value": "\n".join(lines)}]
    if edit.item is None:
        return [{"put": edit.field, "value": edit.value}]
    row = f"{edit.field}.{_key(form, edit.field, edit.item)}"
    if edit.part == "rule":
        rule = ExactCheck.model_validate(edit.value)
        parts = {f"rule_{name}": getattr(rule, name) for name in ("kind", "path", "text", "tool")}
        values = {"grader": "rule"} | parts | {"rule_arguments": write_values(rule.arguments, rule.containing)}
        return [{"put": f"{row}.{name}", "value": value} for name, value in values.items()]
    value = f"{edit.value:g}" if isinstance(edit.value, float) else edit.value
    return [{"put": f"{row}.{edit.part}", "value": value}]


def _key(form: TaskForm, field: str, item: int) -> str:
    rows = getattr(form, field)
    if field == "depends_on":
        rows = [row for row in rows if row["task_id"]]
    if item < 1:
        raise IndexError(item)
    return str(rows[item - 1]["key"])
