"""What calls changed in simulated apps, taken together: of a turn, of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from studio.domain.app_data import AppCard, RecordKind, record_kinds

MAX_VALUE = 300
"""Characters of a value that are shown."""


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
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        text = ", ".join(map(_text, value))
    elif isinstance(value, dict):
        text = ", ".join(f"{name}: {_text(part)}" for name, part in value.items())
    else:
        text = str(value)
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
