"""One-click mends: a change of a task that says what it will do before anybody takes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from studio.domain.base import Spec
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, Recovery, TaskSpec


class SetValue(Spec):
    """Other words in a field, or in one part of a row of it."""

    do: Literal["put"] = "put"
    field: str
    item: int | None = None
    """1-based row; None: the field itself."""
    part: str = ""
    """Which part of the row."""
    value: Any


class RemoveRow(Spec):
    """A row less."""

    do: Literal["remove"] = "remove"
    field: str
    item: int


class AppendRow(Spec):
    """A line or a row more at the end."""

    do: Literal["add"] = "add"
    field: str
    item: int | None = None
    """The intent whose list of places gets a row more."""
    value: str | Dependency | Recovery


Edit = Annotated[SetValue | RemoveRow | AppendRow, Field(discriminator="do")]


class Fix(Spec):
    """What one click does."""

    label: str
    """The button: a verb and its object."""
    shows: str
    """What will stand there then, in a sentence."""
    edits: tuple[Edit, ...]

    def apply(self, task: TaskSpec) -> TaskSpec:
        """The task after it. Rows are removed last, so that places mean what they meant."""
        for edit in sorted(self.edits, key=lambda edit: (edit.do == "remove", -(edit.item or 0))):
            task = _applied(task, edit)
        return task


def _applied(task: TaskSpec, edit: Edit) -> TaskSpec:
    rows: Any = getattr(task, edit.field)
    if isinstance(edit, SetValue) and edit.item is None:
        return task.model_copy(update={edit.field: edit.value})
    if isinstance(edit, AppendRow) and edit.item is None:
        return task.model_copy(update={edit.field: (*rows, edit.value)})
    place = (edit.item or 0) - 1
    row = rows[place]
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
    return task.model_copy(update={edit.field: (*rows[:place], *changed, *rows[place + 1 :])})
