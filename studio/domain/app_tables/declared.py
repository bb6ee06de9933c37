"""Tables of a simulated app, as its state declares them, and what a text in a record must look like: a date, a time, an
address, one of a few words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Literal

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


_EMAIL = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;]+")
_NUMBER = re.compile(r"\+?[0-9]{3,15}")
_TIME = re.compile(r"\d\d:\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")


def _is_date(text: str) -> bool:
    return len(text) == 10 and _parses(date.fromisoformat, text)


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None and _parses(time.fromisoformat, text)


def _is_moment(text: str) -> bool:
    return _MOMENT.fullmatch(text) is not None and _parses(datetime.fromisoformat, text)


def _parses(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


FORMS: dict[Form, tuple[Callable[[str], object], str]] = {
    "date": (_is_date, "Write a date such as 2026-04-13."),
    "time": (_is_time, "Write a time from 00:00 to 23:59, such as 09:30."),
    "moment": (_is_moment, "Write a date and a time such as 2026-04-13T09:30:00."),
    "email": (_EMAIL.fullmatch, "Write an address such as ada@example.com."),
    "phone": (_NUMBER.fullmatch, "Write digits only, such as 4155550100."),
}


def form_flaw(field: AppField, value: Any) -> str:
    """Why the value, or one of a list, does not have the field's form; empty if it does, or says nothing."""
    parts = [
        part for part in (value if isinstance(value, list | tuple) else (value,)) if isinstance(part, str) and part
    ]
    if field.choices and (wrong := next((part for part in parts if part not in field.choices), None)) is not None:
        return f"“{wrong[:60]}” is none of {', '.join(field.choices)}."
    if field.form:
        fits, message = FORMS[field.form]
        return "" if all(fits(part) for part in parts) else message
    return ""
