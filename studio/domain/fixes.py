"""One-click fixes: edits of a task, with a label and a description of their effect."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from studio.domain.base import Spec
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, Recovery, TaskSpec


class SetValue(Spec):
    """Replaces the value of a field, of a row, or of one part of a row."""

    do: Literal["put"] = "put"
    field: str
    item: int | None = None
    """1-based row; None: the field itself."""
    part: str = ""
    """Attribute of the row; empty: the row itself."""
    value: Any


class RemoveRow(Spec):
    do: Literal["remove"] = "remove"
    field: str
    item: int


class AppendRow(Spec):
    """Appends a row to a list."""

    do: Literal["add"] = "add"
    field: str
    item: int | None = None
    """1-based intent whose sources are extended; None: the field itself."""
    value: str | Dependency | Recovery


Edit = Annotated[SetValue | RemoveRow | AppendRow, Field(discriminator="do")]


class Fix(Spec):
    label: str
    """The button: a verb and its object."""
    effect: str
    """The result, as a sentence."""
    edits: tuple[Edit, ...]

    def apply(self, task: TaskSpec) -> TaskSpec:
        """The fixed task. Rows are removed last, so that positions stay valid."""
        for edit in sorted(self.edits, key=lambda edit: (edit.do == "remove", -(edit.item or 0))):
            task = _applied(task, edit)
        return task


def _applied(task: TaskSpec, edit: Edit) -> TaskSpec:
    rows: Any = getattr(task, edit.field)
    if isinstance(edit, SetValue) and edit.item is None:
        return task.model_copy(update={edit.field: edit.value})
    if isinstance(edit, AppendRow) and edit.item is None:
        return task.model_copy(update={edit.field: (*rows, edit.value)})
    index = (edit.item or 0) - 1
    row = rows[index]
    if isinstance(edit, RemoveRow):
        changed: tuple[Any, ...] = ()
    elif isinstance(edit, AppendRow):
        assert isinstance(row, HiddenIntent)
        changed = (row.model_copy(update={"recoverable_from": (*row.recoverable_from, edit.value)}),)
    elif edit.part == "rule":
        assert isinstance(row, ChecklistItem)
        changed = (row.model_copy(update={"grader": "rule", "rule": ExactCheck.model_validate(edit.value)}),)
    else:
        changed = (row.model_copy(update={edit.part: edit.value}) if edit.part else edit.value,)
    return task.model_copy(update={edit.field: (*rows[:index], *changed, *rows[index + 1 :])})
