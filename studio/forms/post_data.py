"""Reading forms with lists of rows, and their row buttons for pages without scripts.

A field named after the list holds the keys of its rows, in order; a row's fields are named ``<list>.<key>.<field>``.
The value of a ``do`` button is ``<list>:add`` or ``<list>:up|down|remove|empty:<key>``; ``empty`` removes a row's file
and leaves its text.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from studio.domain.base import JsonDict
from studio.domain.storable import normalize_newlines, read_json

NEW = "new"
MAPPING = ("name", "value", "kind")


def number_of(text: str | None) -> int:
    """A posted version number, primary key or index; 0 if it is none."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0


class Posted:
    """Form data with line ends normalised to ``\\n``."""

    def __init__(self, data: QueryDict) -> None:
        self.data = data

    def text(self, name: str, default: str = "") -> str:
        return normalize_newlines(str(self.data.get(name, default)))

    def values(self, name: str) -> list[str]:
        return [str(value) for value in self.data.getlist(name)]

    def keys(self, name: str) -> list[str]:
        return list(dict.fromkeys(self.values(name)))

    def rows(self, name: str, fields: Iterable[str]) -> list[dict[str, Any]]:
        fields = list(fields)
        return [
            {"key": key, **{field: self.text(f"{name}.{key}.{field}") for field in fields}} for key in self.keys(name)
        ]


def apply_row_operation(data: QueryDict) -> QueryDict | None:
    """The data after the row operation of its ``do`` button; None if there is none."""
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
        position = keys.index(key)
        other = {"up": position - 1, "down": position + 1}.get(action)
        if action == "remove":
            keys.remove(key)
        elif other is not None and 0 <= other < len(keys):
            keys[position], keys[other] = keys[other], keys[position]
    changed.setlist(name, keys)
    return changed


def preserve(stored: str, typed: str, *, one_line: bool = False) -> str:
    """The typed text; the stored one if the two differ only by what an input cannot hold, such as ``\\r``."""
    shown = normalize_newlines(stored)
    if one_line:
        shown = shown.replace("\n", "")
    return stored if shown == typed else typed


def read_lines(stored: tuple[str, ...], typed: str) -> tuple[str, ...]:
    return stored if "\n".join(stored) == typed else tuple(line for line in typed.split("\n") if line.strip())


def read_picks(stored: tuple[str, ...], picks: Sequence[str]) -> tuple[str, ...]:
    """The picked names; those that are stored first, in their stored order."""
    return (*(name for name in stored if name in picks), *(name for name in picks if name not in stored))


def mapping_rows(mapping: Mapping[str, Any], prefix: str = "k") -> list[dict[str, Any]]:
    """Rows of kind ``text``, ``list`` (one string per line) or ``json`` (anything else)."""
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


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value and "\r" not in value


def read_mapping(
    rows: Iterable[Mapping[str, str]],
    stored: JsonDict,
    add_error: Callable[[str, str], None],
    prefix: str,
    *,
    keys: str = "k",
) -> JsonDict:
    """The mapping in these rows. ``prefix`` starts the names of its inputs, ``keys`` the keys of stored rows."""
    stored_rows = {row["key"]: (name, row) for name, row in zip(stored, mapping_rows(stored, keys), strict=True)}
    result: JsonDict = {}
    for row in rows:
        name, text, kind = row["name"].strip(), row["value"], row["kind"]
        old_name, old = stored_rows.get(row["key"], ("", None))
        stays = old is not None and preserve(old_name, row["name"], one_line=True) == old_name
        if stays:
            name = old_name
        if not name and not text.strip() and not stays:
            continue
        input_name = f"{prefix}.{row['key']}"
        if not name and not stays:
            add_error(f"{input_name}.name", "Enter a name.")
        elif name in result:
            add_error(f"{input_name}.name", f"“{name}” already exists: choose another name.")
        if old is not None and old["kind"] == kind and preserve(old["value"], text) == old["value"]:
            result[name] = stored[old_name]
        elif kind == "list":
            result[name] = [line for line in text.split("\n") if line.strip()]
        elif kind == "json":
            try:
                result[name] = read_json(text)
            except ValueError as error:
                add_error(f"{input_name}.value", f"This is not valid JSON: {error}.")
                result[name] = text
        else:
            result[name] = text
    return result
