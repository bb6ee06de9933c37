"""Reading what a page with rows sent back, and doing what its buttons ask where there is no script to do it.

A list of rows is a field named after the list that holds the rows' keys in their order; a row's fields are named
``<list>.<key>.<field>``. A button named ``do`` says ``<list>:add``, or ``<list>:up|down|remove|empty:<key>``, the last
for a row that keeps its words and loses its file.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from studio.domain.base import JsonDict

NEW = "new"
MAPPING = ("name", "value", "kind")
"""Fields of a mapping's row."""


def number_of(text: str | None) -> int:
    """A version's number, a key or a place that a page sent back; 0 where it is none."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0


class Posted:
    """A form's data with the browser's line ends undone."""

    def __init__(self, data: QueryDict) -> None:
        self.data = data

    def text(self, name: str, default: str = "") -> str:
        return str(self.data.get(name, default)).replace("\r\n", "\n").replace("\r", "\n")

    def values(self, name: str) -> list[str]:
        return [str(value) for value in self.data.getlist(name)]

    def keys(self, name: str) -> list[str]:
        """Keys of a list's rows in order, each once."""
        return list(dict.fromkeys(self.values(name)))

    def rows(self, name: str, fields: Iterable[str]) -> list[dict[str, Any]]:
        fields = list(fields)
        return [
            {"key": key, **{field: self.text(f"{name}.{key}.{field}") for field in fields}} for key in self.keys(name)
        ]


def apply_row_operation(data: QueryDict) -> QueryDict | None:
    """The data after the row operation its ``do`` button asks for; None if it asks for none."""
    name, _, rest = data.get("do", "").partition(":")
    action, _, key = rest.partition(":")
    if action not in ("add", "up", "down", "remove", "empty"):
        return None
    changed = data.copy()
    keys = list(dict.fromkeys(changed.getlist(name)))
    if action == "empty":
        for part in ("stored", "form", "text"):
            changed.pop(f"{name}.{key}.{part}", None)
    elif action == "add":
        keys.append(NEW + secrets.token_hex(4))
    elif key in keys:
        place = keys.index(key)
        other = {"up": place - 1, "down": place + 1}.get(action)
        if action == "remove":
            keys.remove(key)
        elif other is not None and 0 <= other < len(keys):
            keys[place], keys[other] = keys[other], keys[place]
    changed.setlist(name, keys)
    return changed


def preserve(stored: str, typed: str, *, one_line: bool = False) -> str:
    """What was typed; what is stored if a browser could not have shown it any other way."""
    shown = stored.replace("\r\n", "\n").replace("\r", "\n")
    if one_line:
        shown = shown.replace("\n", "")
    return stored if shown == typed else typed


def read_lines(stored: tuple[str, ...], typed: str) -> tuple[str, ...]:
    """One value a line, empty lines left out."""
    return stored if "\n".join(stored) == typed else tuple(line for line in typed.split("\n") if line.strip())


def read_picks(stored: tuple[str, ...], picks: Sequence[str]) -> tuple[str, ...]:
    """The picked names, those stored in their order."""
    return (*(name for name in stored if name in picks), *(name for name in picks if name not in stored))


def mapping_rows(mapping: Mapping[str, Any], prefix: str = "k") -> list[dict[str, Any]]:
    """A mapping as rows a person edits: sentences, lists of sentences one a line, anything else as JSON."""
    rows = []
    for number, (name, value) in enumerate(mapping.items()):
        if isinstance(value, str) and "\r" not in value:
            kind, text = "text", value
        elif isinstance(value, list) and value and all(map(_is_line, value)):
            kind, text = "list", "\n".join(value)
        else:
            kind, text = "json", json.dumps(value, ensure_ascii=False, indent=2)
        rows.append({"key": f"{prefix}{number}", "name": name, "value": text, "kind": kind})
    return rows


def read_json(text: str) -> Any:
    """The value; raises ValueError, also for the words that Python takes for numbers and JSON does not."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not a valid number there")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value and "\r" not in value


def read_mapping(
    rows: Iterable[Mapping[str, str]],
    stored: JsonDict,
    complain: Callable[[str, str], None],
    prefix: str,
    *,
    keys: str = "k",
) -> JsonDict:
    """The mapping these rows say. ``complain(place, sentence)`` hears what cannot be read; ``keys`` is how the keys
    of stored rows begin."""
    known = {row["key"]: (name, row) for name, row in zip(stored, mapping_rows(stored, keys), strict=True)}
    result: JsonDict = {}
    for row in rows:
        name, text, kind = row["name"].strip(), row["value"], row["kind"]
        was_name, was = known.get(row["key"], ("", None))
        stays = was is not None and preserve(was_name, row["name"], one_line=True) == was_name
        if stays:
            name = was_name
        if not name and not text.strip() and not stays:
            continue
        place = f"{prefix}.{row['key']}"
        if not name and not stays:
            complain(f"{place}.name", "Enter a name.")
        elif name in result:
            complain(f"{place}.name", f"“{name}” already exists: choose another name.")
        if was is not None and was["kind"] == kind and preserve(was["value"], text) == was["value"]:
            result[name] = stored[was_name]
        elif kind == "list":
            result[name] = [line for line in text.split("\n") if line.strip()]
        elif kind == "json":
            try:
                result[name] = read_json(text)
            except ValueError as error:
                complain(f"{place}.value", f"This is not valid JSON: {error}.")
                result[name] = text
        else:
            result[name] = text
    return result
