"""Tables of a simulated app, as its state declares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shape = Literal["text", "number", "amount", "flag", "texts", "numbers", "json"]
Form = Literal["", "date", "time", "moment", "email", "phone"]
"""Of a text, or of each text of a list; a moment is a date with a time."""


@dataclass(frozen=True)
class AppField:
    name: str
    shape: Shape
    required: bool = False
    refers: str = ""
    """The table whose keys it holds."""
    form: Form = ""
    choices: tuple[str, ...] = ()
    """The only texts there are."""


@dataclass(frozen=True)
class DeclaredTable:
    name: str
    noun: str
    fields: tuple[AppField, ...]
    """The first is the key."""
    columns: tuple[str, ...] = ()
    """Fields that name a record, the most telling first."""

    @property
    def key(self) -> AppField:
        return self.fields[0]

    @property
    def numbered(self) -> bool:
        """Whether records without a key get the next number."""
        return self.key.shape == "number"


@dataclass(frozen=True)
class RecordFlaw:
    table: str
    row: int
    """Counted from 1."""
    column: str
    """Empty if it is about the whole record."""
    message: str
    serious: bool = True
    """Whether the data cannot be used; a reference that leads nowhere is saved and named."""

    def __str__(self) -> str:
        where = f"Row {self.row}, {self.column}" if self.column else f"Row {self.row}"
        return f"{where}: {self.message}"
