"""Files that hold one table of app data: CSV and JSON, read whatever they are, and written."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from studio.domain.app_tables.cells import Record, read_record, write_cell
from studio.domain.app_tables.declared import AppField, DeclaredTable, RecordFlaw, form_flaw
from studio.domain.csv_files import unguarded, write_csv
from studio.domain.storable import read_json, storable

MAX_BYTES = 5_000_000
MAX_SHOWN_BYTES = 3 * MAX_BYTES
"""Of what was read of a file, as it comes back from a preview: JSON repeats the columns' names in each record."""
MAX_RECORDS = 10_000
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class TableFileError(ValueError):
    """The file cannot be read as this table at all. The message is for the author."""


@dataclass(frozen=True)
class TableFile:
    records: tuple[Record, ...]
    flaws: tuple[RecordFlaw, ...]
    columns: tuple[str, ...]
    """Those it fills, in their declared order."""
    kind: str
    """What was read, such as “CSV separated by semicolons”."""


def read_table_file(table: DeclaredTable, content: bytes, *, shown: bool = False) -> TableFile:
    """``shown``: it comes back from a preview. Raises TableFileError."""
    most = MAX_SHOWN_BYTES if shown else MAX_BYTES
    if len(content) > most:
        raise TableFileError(f"This has {len(content):,} bytes; a table has at most {most:,}.")
    text = _decode(content)
    if not text.strip():
        raise TableFileError("This is empty.")
    read = _read_json if text.lstrip()[0] in "[{" else _read_csv
    found = read(table, text)
    return replace(found, flaws=(*found.flaws, *_keys(table, found.records)))


def write_table(table: DeclaredTable, records: Iterable[Mapping[str, Any]]) -> str:
    """As CSV, which ``read_table_file`` reads as the same records."""
    names = [field.name for field in table.fields]
    rows = ([_cell(field, record.get(field.name)) for field in table.fields] for record in records)
    return write_csv([names, *rows])


def _cell(field: AppField, value: Any) -> object:
    return value if type(value) in (int, float) else write_cell(field, value)


def write_json(records: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(list(records), ensure_ascii=False, indent=2) + "\n"


def _require_room(records: int) -> None:
    """Raises TableFileError."""
    if records > MAX_RECORDS:
        raise TableFileError(f"This has more records than a table can hold: at most {MAX_RECORDS:,}.")


def _decode(content: bytes) -> str:
    bom, encoding = next(((bom, name) for bom, name in _BOMS if content.startswith(bom)), (b"", "utf-8"))
    try:
        text = content[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        raise TableFileError("This file is not UTF-8 text. Save it as “CSV UTF-8” and choose it again.") from None
    if "\0" in text:
        raise TableFileError("This is not a text file: it holds NUL bytes. Save it as CSV or JSON.")
    return text


def _read_json(table: DeclaredTable, text: str) -> TableFile:
    try:
        data = read_json(text)
    except ValueError as error:
        raise TableFileError(f"This is not JSON: {error}.") from None
    if isinstance(data, dict):
        if not isinstance(data.get(table.name), list):
            raise TableFileError(f"Write a list of records, or an object with the list “{table.name}”.")
        data = data[table.name]
    _require_room(len(data))
    known = {field.name: field for field in table.fields}
    records: list[Record] = []
    flaws: list[RecordFlaw] = []
    for row, record in enumerate(data, start=1):
        if not isinstance(record, dict):
            flaws.append(RecordFlaw(table.name, row, "", "This must be an object with the record’s fields."))
            continue
        if (text := storable(record)) != record:
            flaws.append(RecordFlaw(table.name, row, "", "This holds a character that no text has."))
            record = text
        flaws += [
            RecordFlaw(table.name, row, name[:80], f"A {table.noun} has no such field.")
            for name in record
            if name not in known
        ]
        flaws += [
            RecordFlaw(table.name, row, name, flaw)
            for name, value in record.items()
            if name in known and (flaw := form_flaw(known[name], value))
        ]
        records.append(record)
    used = {name for record in records for name in record}
    columns = tuple(field.name for field in table.fields if field.name in used)
    return TableFile(tuple(records), tuple(flaws), columns, "JSON")


def _keys(table: DeclaredTable, records: Sequence[Record]) -> Iterator[RecordFlaw]:
    first: dict[str | int, int] = {}
    for row, record in enumerate(records, start=1):
        key = record.get(table.key.name)
        if key is None:
            continue
        if not isinstance(key, str | int):
            yield RecordFlaw(table.name, row, table.key.name, "This must be a text or a number.")
        elif first.setdefault(key, row) != row:
            yield RecordFlaw(
                table.name, row, table.key.name, f"Row {first[key]} has {key!r} too; each {table.noun} has its own."
            )


def _read_csv(table: DeclaredTable, text: str) -> TableFile:
    delimiter = _delimiter(table, text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] | None = None
    records: list[Record] = []
    flaws: list[RecordFlaw] = []
    try:
        for values in rows:
            if not any(value.strip() for value in values):
                continue
            if columns is None:
                columns = _header(table, values)
                continue
            row = len(records) + 1
            if len(values) != len(columns):
                message = f"This has {len(values)} values; the first line names {len(columns)} columns."
                flaws.append(RecordFlaw(table.name, row, "", message))
            cells = dict(zip(columns, map(unguarded, values), strict=False))
            _require_room(row)
            record, wrong = read_record(table, cells, row)
            records.append(record)
            flaws += wrong
    except csv.Error as error:
        raise TableFileError(f"Line {max(rows.line_num, 1)} cannot be read as CSV: {error}.") from None
    kept = tuple(field.name for field in table.fields if field.name in (columns or ()))
    return TableFile(tuple(records), tuple(flaws), kept, f"CSV separated by {DELIMITERS[delimiter]}")


def _delimiter(table: DeclaredTable, text: str) -> str:
    """The one by which the first line names most columns of the table."""
    known = {field.name for field in table.fields}
    head = next(line for line in text.splitlines() if line.strip())[:20_000]

    def named(delimiter: str) -> int:
        return sum(_column(part.strip('"')) in known for part in head.split(delimiter))

    best = max(DELIMITERS, key=named)
    if not named(best):
        columns = ", ".join(field.name for field in table.fields)
        raise TableFileError(f"The first line must name the columns: {columns}.")
    return best


def _header(table: DeclaredTable, values: Sequence[str]) -> list[str]:
    known = {field.name for field in table.fields}
    columns = [_column(value) for value in values]
    for number, (column, value) in enumerate(zip(columns, values, strict=True), start=1):
        if column not in known:
            there = ", ".join(field.name for field in table.fields)
            named = f"“{value.strip()[:60]}”" if value.strip() else f"Column {number} has no name, which"
            raise TableFileError(f"{named} is no column of this table. It has {there}.")
        if columns.index(column) != number - 1:
            raise TableFileError(f"The column “{column}” stands there twice.")
    return columns


def _column(text: str) -> str:
    return "_".join(text.strip().casefold().replace("_", " ").split())
