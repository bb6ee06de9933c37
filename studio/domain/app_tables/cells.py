"""Values of records as text in a cell, and back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from studio.domain.app_tables.declared import AppField, DeclaredTable, RecordFlaw, form_flaw
from studio.domain.storable import normalize_newlines, read_json, storable

YES, NO = ("yes", "true", "1", "x", "y"), ("no", "false", "0", "n")
_NUMBER = re.compile(r"[+-]?\d{1,15}(\.0+)?")
Record = dict[str, Any]


class CellError(ValueError):
    """The message is for the author."""


def read_cell(field: AppField, text: str) -> Any:
    """What the text says; empty text is not asked. Raises CellError."""
    value = _read(field, text)
    if flaw := form_flaw(field, value):
        raise CellError(flaw)
    return value


def _read(field: AppField, text: str) -> Any:
    words = text.strip()
    if field.form == "moment" and len(words) == len("2026-04-13T09:30"):  # as browsers give it
        return f"{words}:00"
    if field.shape == "text":
        return words if field.form or field.choices else text
    if field.shape == "number":
        if not _NUMBER.fullmatch(words):
            raise CellError("Write a whole number, such as 12.")
        return int(words.partition(".")[0])
    if field.shape == "amount":
        return _amount(words)
    if field.shape == "flag":
        if words.casefold() not in (*YES, *NO):
            raise CellError("Write yes or no.")
        return words.casefold() in YES
    if field.shape == "json":
        return _stored(_json(words))
    parts = (
        _stored(_json(words)) if words.startswith("[") else [part.strip() for part in words.split(",") if part.strip()]
    )
    if field.shape == "texts":
        return [str(part) for part in parts]
    return [_listed_number(part) for part in parts]


def write_cell(field: AppField, value: Any) -> str:
    """Text that ``read_cell`` reads as the same value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if field.shape in ("texts", "numbers") and isinstance(value, list | tuple):
        parts = [str(part) for part in value]
        plain = all(isinstance(part, str | int) and not isinstance(part, bool) for part in value)
        if plain and all(part and part == part.strip() and not set(part) & set(",\n\r") for part in parts):
            joined = ", ".join(parts)
            if not joined.startswith("["):
                return joined
    return json.dumps(value, ensure_ascii=False)


def numbered(table: DeclaredTable, records: Sequence[Any]) -> list[Any]:
    """With the numbers that the app gives to records without one, so that they stay when others are added or go."""
    key = table.key.name
    if not table.numbered or all(isinstance(record, dict) and key in record for record in records):
        return list(records)
    free = max(
        (record[key] for record in records if isinstance(record, dict) and _is_number(record.get(key))), default=0
    )
    out = []
    for record in records:
        if isinstance(record, dict) and key not in record:
            free += 1
            record = {key: free, **record}
        out.append(record)
    return out


def read_record(
    table: DeclaredTable, cells: Mapping[str, str], row: int, stored: Record | None = None
) -> tuple[Record, list[RecordFlaw]]:
    """The record in these cells. Cells that say what is stored leave it as it is; fields without a cell stay."""
    record: Record = {}
    flaws = []
    for field in table.fields:
        text = cells.get(field.name)
        if stored is not None and field.name in stored and (text is None or _same(field, stored[field.name], text)):
            record[field.name] = stored[field.name]
        elif text is None or not text.strip():
            if field.required and not (field is table.key and table.numbered):
                flaws.append(RecordFlaw(table.name, row, field.name, "This field is required."))
        else:
            try:
                record[field.name] = read_cell(field, text)
            except CellError as error:
                flaws.append(RecordFlaw(table.name, row, field.name, str(error)))
    known = {field.name for field in table.fields}
    return record | {name: value for name, value in (stored or {}).items() if name not in known}, flaws


def name_of(table: DeclaredTable, record: Mapping[str, Any]) -> str:
    """What people call the record."""
    for column in table.columns:
        value = record.get(column)
        if value not in (None, "", []) and column != table.key.name:
            return str(value)
    return str(record.get(table.key.name, ""))


def _same(field: AppField, value: Any, text: str) -> bool:
    return normalize_newlines(write_cell(field, value)) == text


def _amount(words: str) -> float | int:
    try:
        value = float(words) if re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", words, re.IGNORECASE) else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CellError("Write a number, such as 12.50.")
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _listed_number(part: Any) -> int:
    if _is_number(part):
        return int(part)
    if isinstance(part, str) and _NUMBER.fullmatch(part):
        return int(part.partition(".")[0])
    raise CellError("Write whole numbers with commas between them, such as 3, 8.")


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _stored(value: Any) -> Any:
    """Raises CellError for what no file could hold."""
    if storable(value) != value:
        raise CellError("This holds a character that no text has.")
    return value


def _json(words: str) -> Any:
    try:
        return read_json(words)
    except ValueError:
        raise CellError("This is not JSON. The other records or the example show what stands here.") from None
