"""What changed in simulated apps: by calls, taken together, of a turn or a session; by people, in their data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from studio.domain.app_data import (
    CLOCK,
    AppCard,
    ClockError,
    RecordKind,
    app_names,
    declared_tables,
    read_app,
    read_times,
    record_kinds,
)
from studio.domain.app_tables.cells import numbered
from studio.domain.app_tables.declared import DeclaredTable
from studio.domain.diff import Difference, FieldChange, Piece, line_pieces, word_pieces
from studio.domain.phrases import count_of

MAX_VALUE = 300
"""Characters of a value that are shown of a call."""
MAX_RECORDS = 500
"""Of a table, that a comparison of data shows."""
WRITTEN_DIFFERENTLY: tuple[Piece, ...] = (("same", "The file is written differently, and says the same."),)
MAX_WORDS = 4_000
"""Characters of a value that are compared word by word; longer ones line by line."""


@dataclass(frozen=True)
class RecordFieldChange:
    field: str
    before: str
    after: str


@dataclass(frozen=True)
class RecordChange:
    app: str
    """Its title."""
    noun: str
    name: str
    kind: Literal["added", "changed", "deleted"]
    fields: tuple[RecordFieldChange, ...]


def net_changes(effects: Iterable[Mapping[str, Any]]) -> list[RecordChange]:
    """``effects`` as calls record them, in order. What comes and goes again is left out."""
    states: dict[tuple[str, str, Any], tuple[Any, Any]] = {}
    for effect in effects:
        place = effect["app"], effect["table"], effect["key"]
        before = states[place][0] if place in states else effect["before"]
        states[place] = before, effect["after"]
    cards = record_kinds()
    return [
        _change(cards.get(app), app, table, key, before, after)
        for (app, table, key), (before, after) in states.items()
        if before != after
    ]


def compare_app_data(app: str, old: bytes, new: bytes) -> list[FieldChange]:
    """What a person changed in an app's data, by table and record, with every value in full; empty data is none. What
    cannot be read as tables is compared as text."""
    if app == CLOCK:
        was, now = map(_clock_text, (old, new))
        return [FieldChange(app, "", [Difference("", word_pieces(was, now) if was != now else WRITTEN_DIFFERENTLY)])]
    if app not in app_names() or any(content and read_app(app, content).error for content in (old, new)):
        return [FieldChange(app, "", [Difference("", line_pieces(*map(_decoded, (old, new))))])]
    before, after = (json.loads(content or b"{}") for content in (old, new))
    declared = {table.name: table for table in declared_tables(app)}
    found: list[FieldChange] = []
    for name in dict.fromkeys((*declared, *before, *after)):
        if before.get(name) != after.get(name):
            label = name.replace("_", " ").capitalize()
            if name in declared:
                found += _table_changes(declared[name], label, before.get(name, []), after.get(name, []))
            else:
                pieces = word_pieces(_full_text(before.get(name)), _full_text(after.get(name)))
                found.append(FieldChange(name, label, [Difference("", pieces)]))
    return found or [FieldChange(app, "", [Difference("", WRITTEN_DIFFERENTLY)])]


def _table_changes(table: DeclaredTable, label: str, old: list[Any], new: list[Any]) -> Iterator[FieldChange]:
    before, after = _by_key(table, old), _by_key(table, new)
    found = [
        *(_whole(table, row, "gone") for key, row in before.items() if key not in after),
        *(_whole(table, row, "new") for key, row in after.items() if key not in before),
        *(_edited(table, before[key], row) for key, row in after.items() if before.get(key, row) != row),
    ]
    kinds = [difference.kind for difference in found]
    counts = [f"{kinds.count(kind):,} {kind}" for kind in ("added", "removed", "changed") if kind in kinds]
    if [key for key in before if key in after] != [key for key in after if key in before]:
        counts.append("order changed")
    if not counts:
        return  # a number was written that the app would give
    shown = found[:MAX_RECORDS]
    if left := len(found) - len(shown):
        shown.append(Difference("", (("same", f"And {count_of(left, 'more record')}."),)))
    yield FieldChange(table.name, f"{label}: {', '.join(counts)}", shown)


def _by_key(table: DeclaredTable, rows: list[Any]) -> dict[Any, dict[str, Any]]:
    return {row.get(table.key.name, f"#{place}"): row for place, row in enumerate(numbered(table, rows), start=1)}


def _whole(table: DeclaredTable, row: Mapping[str, Any], kind: Literal["gone", "new"]) -> Difference:
    lines = [f"{name.replace('_', ' ')}: {text}" for name, value in row.items() if (text := _full_text(value))]
    done = "added" if kind == "new" else "removed"
    return Difference(_title(table, row), ((kind, "\n".join(lines)),), done)


def _edited(table: DeclaredTable, old: Mapping[str, Any], new: Mapping[str, Any]) -> Difference:
    pieces: list[Piece] = []
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            texts = _full_text(old.get(name)), _full_text(new.get(name))
            compare = word_pieces if sum(map(len, texts)) < MAX_WORDS else line_pieces
            start = "\n" if pieces else ""
            pieces += [("same", f"{start}{name.replace('_', ' ')}: "), *compare(*texts)]
    return Difference(_title(table, new), tuple(pieces))


def _title(table: DeclaredTable, row: Mapping[str, Any]) -> str:
    column = table.columns[0] if table.columns else table.key.name
    return _text(row.get(column)) or f"{table.noun} {row.get(table.key.name, '')}".strip()


def _clock_text(content: bytes) -> str:
    if not content:
        return ""
    try:
        times = read_times(content)
    except ClockError:
        return _decoded(content)
    lines = [f"first session: {times.now:%Y-%m-%d %H:%M}"] if times.now else []
    if times.days is not None:
        lines.append(f"days from one session to the next: {times.days:g}")
    return "\n".join([*lines, *(f"{name}: {moment:%Y-%m-%d %H:%M}" for name, moment in times.tasks.items())])


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _change(card: AppCard | None, app: str, table: str, key: Any, before: Any, after: Any) -> RecordChange:
    kinds = card.kinds if card else ()
    kind = next((kind for kind in kinds if kind.table == table), RecordKind(table, table, ()))
    old, new = before or {}, after or {}
    shown = new or old
    name = next((_text(shown[column]) for column in kind.columns if shown.get(column) not in (None, "", [])), str(key))
    names = dict.fromkeys((*old, *new))
    fields = tuple(
        RecordFieldChange(name.replace("_", " "), _text(old.get(name)), _text(new.get(name)))
        for name in names
        if old.get(name) != new.get(name)
    )
    done: Literal["added", "changed", "deleted"] = "added" if not old else "deleted" if not new else "changed"
    return RecordChange(card.title if card else app, kind.noun, name, done, fields)


def _text(value: Any) -> str:
    text = _full_text(value)
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"


def _full_text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_full_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_full_text(part)}" for name, part in value.items())
    return str(value)
