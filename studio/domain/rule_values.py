"""What a call or record must have, as authors write it: ``title = Plan`` or ``body contains Friday``, one to a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from studio.domain.app_data import record_kinds
from studio.domain.app_rules import bare
from studio.domain.storable import read_json

ON_RECORDS = ("record_exists", "record_gone")
_LINE = re.compile(r"\s*(?P<name>[^\s=:]+)\s*(?P<how>=|:|\bis\b|\bcontains\b)\s*(?P<value>.*?)\s*")


class ValuesError(ValueError):
    """The message is for the author."""


class RecordApp(NamedTuple):
    """An app as the rule's choices show it."""

    name: str
    title: str
    records: tuple[tuple[str, str, str], ...]
    """``app.table``, what one is called, and its fields."""


def record_apps(tools: Iterable[str]) -> list[RecordApp]:
    """Those that a persona's tools use; all where it has none."""
    bound = {bare(name).partition("__")[0] for name in tools if "__" in name}
    return [
        RecordApp(
            name,
            card.title,
            tuple((f"{name}.{kind.table}", kind.noun, ", ".join(kind.fields)) for kind in card.kinds),
        )
        for name, card in record_kinds().items()
        if not bound or name in bound
    ]


def read_values(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Names with the values they must have, and with texts they must contain. One JSON object is read as well.
    Raises ValuesError."""
    if text.lstrip().startswith("{"):
        try:
            values = read_json(text)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise ValuesError("Write “name = value” or “name contains text”, one to a line.")
        return values, {}
    exactly: dict[str, Any] = {}
    containing: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None or not match["value"]:
            raise ValuesError(f"Line {number}: write “name = value” or “name contains text”.")
        if match["name"] in exactly or (match["how"] != "contains" and match["name"] in containing):
            raise ValuesError(f"Line {number}: {match['name']} stands here twice.")
        if match["how"] == "contains":
            containing[match["name"]] = match["value"]
        else:
            exactly[match["name"]] = _read_value(match["value"])
    return exactly, containing


def write_values(exactly: Mapping[str, Any], containing: Mapping[str, str]) -> str:
    lines = [f"{name} = {_write_value(value)}" for name, value in exactly.items()]
    lines += [f"{name} contains {' '.join(text.split())}" for name, text in containing.items()]
    return "\n".join(lines)


def check_fields(names: Iterable[str], app: str, table: str) -> None:
    """Raises ValuesError for a field that records of the table do not have."""
    card = record_kinds().get(app)
    kind = next((kind for kind in card.kinds if kind.table == table), None) if card else None
    if card is None or kind is None:
        return
    for name in names:
        if name not in kind.fields:
            raise ValuesError(
                f"A {kind.noun} in {card.title} has no “{name}”. It has {', '.join(kind.columns or kind.fields)}."
            )


def _read_value(text: str) -> Any:
    """Numbers, true and false, lists and quoted texts are read as JSON; everything else is the text itself."""
    try:
        value = read_json(text)
    except ValueError:
        return text
    return value if json.dumps(value, ensure_ascii=False) == text else text


def _write_value(value: Any) -> str:
    if isinstance(value, str) and value and value == value.strip() and "\n" not in value:
        return value if _read_value(value) == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)
