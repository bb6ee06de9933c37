"""Tables of a persona's app data: read, edited and replaced, each as a version of the persona."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from studio.domain.app_data import check_records, declared_apps, declared_tables, read_app
from studio.domain.app_tables.cells import Record, name_of, numbered, read_record
from studio.domain.app_tables.declared import DeclaredTable, RecordFlaw
from studio.domain.cast import read_cast
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.models import Blob, Persona, User
from studio.personas.app_data import save_apps, validate_length

LONGEST_INDENTED = 1_500_000
"""Characters of an app's data that somebody might still read as text; white space at most triples them."""
MAX_CHOICES = 300
"""Keys of another table that are offered."""


WRITERS = ("sender", "receiver")
"""Fields that hold an address or a number, usually somebody's with an account."""
MAX_NAMES = 3_000
"""Of records that are offered while somebody writes a task."""
LONGEST_NAME = 100


@dataclass(frozen=True)
class AppRecords:
    """One table of an app, and the app's other data."""

    app: str
    title: str
    table: DeclaredTable
    tables: tuple[DeclaredTable, ...]
    data: Mapping[str, Any]
    records: tuple[Record, ...]
    unreadable: str = ""
    """Why the app's data cannot be shown as tables."""

    @property
    def digest(self) -> str:
        """Says whether somebody else has changed the table since it was shown."""
        return hashlib.sha256(json.dumps(self.records, sort_keys=True).encode()).hexdigest()[:16]

    def flaws(self) -> list[RecordFlaw]:
        """Of this table as it is stored."""
        return [flaw for flaw in check_records(self.app, self.data) if flaw.table == self.table.name]

    def choices(self) -> dict[str, list[tuple[str, str]]]:
        """Keys that fields of the table can refer to, with names, and people for those that hold an address: by
        field."""
        by_name = {table.name: table for table in self.tables}
        wanted = {field.name: field.refers for field in self.table.fields if field.shape in ("text", "number")}
        wanted |= {name: "accounts" for name in wanted if name in WRITERS}
        return {
            name: _choices(by_name[table], self.data.get(table, []))
            for name, table in wanted.items()
            if table in by_name
        }


def load_records(persona: Persona, app: str, table: str) -> AppRecords:
    """Raises KeyError for a table there is not."""
    tables = declared_tables(app)
    declared = {each.name: each for each in tables}[table]
    spec = load_episode(persona, with_tasks=False).persona
    file = spec.app_data.get(app)
    content = Blob.objects.read([file.sha256]).get(file.sha256, b"") if file else None
    card = read_app(app, content)
    data = json.loads(content) if content and not card.error else {}
    records = numbered(declared, data.get(table, []))
    return AppRecords(app, card.title, declared, tables, {**data, table: records}, tuple(records), card.error)


def record_names(persona: Persona) -> list[tuple[str, str]]:
    """Names of the records that the persona's apps hold, with what each is: (“Shopping”, “Simple Note note”); and how
    their people are reached and sign in."""
    spec = load_episode(persona, with_tasks=False).persona
    stored = Blob.objects.read([file.sha256 for file in spec.app_data.values()])
    found: dict[tuple[str, str], None] = {}
    all_data = {}
    for app, file in spec.app_data.items():
        content = stored.get(file.sha256, b"")
        card = read_app(app, content)
        data = all_data[app] = {} if card.error or not declared_tables(app) else json.loads(content)
        for table in declared_tables(app):
            what = f"{card.title} {table.noun}"
            for record in data.get(table.name, ()):
                if name := _spoken_name(table, record):
                    found[name, what] = None
    apps = {app: declared for app, declared in declared_apps().items() if app in all_data}
    people = read_cast(all_data, {app: declared.signs_in_by for app, declared in apps.items()})
    titles = {app: declared.title for app, declared in apps.items()}
    said = (each for person in people for each in person.citations(titles))
    return [*said, *found][:MAX_NAMES]


def edit_records(
    found: AppRecords, shown: Sequence[int], cells: Sequence[tuple[int | None, Mapping[str, str]]]
) -> tuple[list[Record], list[tuple[int, RecordFlaw]]]:
    """The table after an edit of its records at ``shown``: those not among ``cells`` go, those at None are new.

    Flaws come with the position of their row among ``cells``.
    """
    flaws: list[tuple[int, RecordFlaw]] = []
    changed: dict[int, Record] = {}
    added: list[Record] = []
    for place, (index, texts) in enumerate(cells):
        stored = found.records[index] if index is not None and index < len(found.records) else None
        if stored is None and not any(text.strip() for text in texts.values()):
            continue
        record, wrong = read_record(found.table, texts, (index if index is not None else place) + 1, stored)
        flaws += [(place, flaw) for flaw in wrong]
        if index is not None and stored is not None:
            changed[index] = record
        else:
            added.append(record)
    gone = set(shown) - changed.keys()
    kept = [changed.get(index, record) for index, record in enumerate(found.records) if index not in gone]
    return numbered(found.table, [*kept, *added]), flaws


def merge_records(found: AppRecords, records: Sequence[Record]) -> list[Record]:
    """The table with ``records`` added; those with a key that is there take its record's place."""
    key = found.table.key.name
    new = {record[key]: record for record in records if key in record}
    kept = [new.pop(record.get(key), record) for record in found.records]
    return numbered(found.table, [*kept, *(record for record in records if key not in record or record[key] in new)])


def rows_after_merge(found: AppRecords, records: Sequence[Record]) -> dict[int, int]:
    """Rows of the merged table, from 1, that come from ``records``, with their rows there."""
    key = found.table.key.name
    stored = {record.get(key): row for row, record in enumerate(found.records, start=1)}
    after = count(len(found.records) + 1)
    return {stored.get(record.get(key)) or next(after): row for row, record in enumerate(records, start=1)}


def check_table(found: AppRecords, records: Sequence[Record]) -> list[RecordFlaw]:
    """Flaws of the table if it held these records; those of other tables that it would bring about are among them."""
    data = _with_table(found, records)
    before = {str(flaw) + flaw.table for flaw in check_records(found.app, found.data)}
    return [
        flaw
        for flaw in check_records(found.app, data)
        if flaw.table == found.table.name or str(flaw) + flaw.table not in before
    ]


def save_table(
    persona: Persona, found: AppRecords, records: Sequence[Record], *, by: User, base_version: int
) -> list[RecordFlaw]:
    """Make the table hold these records; returns what is left to fix. Raises DraftError, also for serious flaws, and
    StaleDraftError."""
    flaws = check_table(found, records)
    if serious := [flaw for flaw in flaws if flaw.serious]:
        raise DraftError("text", flaws_in_words(serious))
    note = f"Data of {found.title} changed."
    save_apps(persona, {found.app: _text_with(found, records)}, note, by=by, base_version=base_version)
    return flaws


def flaws_in_words(flaws: Sequence[RecordFlaw]) -> str:
    shown = " · ".join(f"{flaw.table}: {flaw}" for flaw in flaws[:5])
    return f"{shown} · and {len(flaws) - 5} more." if len(flaws) > 5 else shown


def validate_room(found: AppRecords, records: Sequence[Record]) -> None:
    """Raises DraftError if the app's data would be too long if the table held these records."""
    validate_length(_text_with(found, records))


def _text_with(found: AppRecords, records: Sequence[Record]) -> str:
    """Indented for people, unless it would be too long then."""
    data = _with_table(found, records)
    text = json.dumps(data, ensure_ascii=False) if data else ""
    if len(text) > LONGEST_INDENTED:
        return text
    return json.dumps(data, ensure_ascii=False, indent=2) if data else ""


def _with_table(found: AppRecords, records: Sequence[Record]) -> dict[str, Any]:
    data = {name: rows for name, rows in found.data.items() if name != found.table.name or records}
    if records:
        data[found.table.name] = list(records)
    return data


def _spoken_name(table: DeclaredTable, record: Mapping[str, Any]) -> str:
    """The name people would write; empty for records that have none."""
    if isinstance(first := record.get("first_name"), str) and first:
        return f"{first} {record.get('last_name') or ''}".strip()
    column = table.columns[0] if table.columns else ""
    if column == table.key.name:  # an account by its username; the next column is its password
        return ""
    name = record.get(column)
    referring = {field.name for field in table.fields if field.refers or field.shape != "text"}
    usable = isinstance(name, str) and column not in referring and len(name) <= LONGEST_NAME and "\n" not in name
    return str(name).strip() if usable else ""


def _choices(table: DeclaredTable, records: Any) -> list[tuple[str, str]]:
    rows = [row for row in numbered(table, records if isinstance(records, list) else []) if isinstance(row, dict)]
    return [(str(row.get(table.key.name, "")), name_of(table, row)) for row in rows[:MAX_CHOICES]]
