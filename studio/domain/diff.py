"""Reading what was kept: the versions of a task or persona and what differs between two of them, to the word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studio.domain.base import Spec
from studio.domain.changes import FIELD_LABELS, changed_fields
from studio.domain.descriptions import describe_value, label_of, with_numbered_links

Piece = tuple[str, str]
"""``("same" | "gone" | "new", text)``."""

TOKENS = re.compile(r"\s+|\w+|[^\w\s]")


DEFAULTS = {"scope": "session_local", "initial_status": "not_provided", "grader": "rubric", "weight": 1.0}
"""What goes without saying of a row."""


@dataclass(frozen=True)
class Difference:
    """What one field, or one row of a list, was and is."""

    label: str
    pieces: tuple[Piece, ...]
    kind: str = "changed"
    """``changed``, ``added``, ``removed`` or ``moved``."""


@dataclass(frozen=True)
class FieldChange:
    field: str
    label: str
    differences: list[Difference]


def compare(old: Spec, new: Spec) -> list[FieldChange]:
    """Field by field, in the spec's order; nothing where nothing differs."""
    before, after = with_numbered_links(old.to_json()), with_numbered_links(new.to_json())
    return [
        FieldChange(name, _label(name), list(_differences(before[name], after[name])))
        for name in changed_fields(old, new)
    ]


def compare_orders(old: Sequence[str], new: Sequence[str]) -> list[FieldChange]:
    """The order of an episode's tasks, before and after; nothing if it is the same."""
    if list(old) == list(new):
        return []
    pieces: list[Piece] = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(f"{task_id}\n" for task_id in old[a1:a2])))
            continue
        pieces += [("gone", f"{task_id}\n") for task_id in old[a1:a2]]
        pieces += [("new", f"{task_id}\n") for task_id in new[b1:b2]]
    return [FieldChange("order", "Order of the episode", [Difference("", tuple(pieces))])]


def word_pieces(old: str, new: str) -> tuple[Piece, ...]:
    """The way from one text to the other in words, neighbours of a kind joined."""
    a, b = TOKENS.findall(old), TOKENS.findall(new)
    pieces: list[Piece] = []
    for tag, a1, a2, b1, b2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(a[a1:a2])))
            continue
        if a1 < a2:
            pieces.append(("gone", "".join(a[a1:a2])))
        if b1 < b2:
            pieces.append(("new", "".join(b[b1:b2])))
    return tuple(pieces)


def line_pieces(old: str, new: str) -> tuple[Piece, ...]:
    """The way from one text of many lines to the other: lines first, then words inside those that were changed, and
    of what stayed the same no more than three lines around."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    pieces: list[Piece] = []
    opcodes = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for place, (tag, a1, a2, b1, b2) in enumerate(opcodes):
        was, now = "".join(a[a1:a2]), "".join(b[b1:b2])
        if tag == "equal":
            head, tail = (3 if place else 0), (3 if place < len(opcodes) - 1 else 0)
            if a2 - a1 > head + tail + 2:
                was = "".join(a[a1 : a1 + head]) + "⋯\n" + "".join(a[a2 - tail : a2] if tail else ())
            pieces.append(("same", was))
        elif tag == "replace" and len(was) + len(now) < 4_000:
            pieces += word_pieces(was, now)
        else:
            pieces += [(kind, text) for kind, text in (("gone", was), ("new", now)) if text]
    return tuple(pieces)


def _differences(old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, list) and isinstance(new, list) and any(isinstance(row, dict) for row in (*old, *new)):
        old, new = ([{"path": row} if isinstance(row, str) else row for row in rows] for rows in (old, new))
    if _rows(old) and _rows(new) and (old or new):
        yield from _row_differences(old, new)
    else:
        yield Difference("", word_pieces(describe_value(old), describe_value(new)))


def _rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _row_differences(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    """Rows are the same row by their uid, path, task or tool; else by place."""
    before = {_identity(row, place): (place, row) for place, row in enumerate(old, 1)}
    after = {_identity(row, place): (place, row) for place, row in enumerate(new, 1)}
    for key, (place, row) in before.items():
        if key not in after:
            yield Difference(str(place), (("gone", _row_text(row)),), "removed")
    order = [key for key in before if key in after], [key for key in after if key in before]
    stayed = {
        key
        for block in difflib.SequenceMatcher(None, *order, autojunk=False).get_matching_blocks()
        for key in order[0][block.a : block.a + block.size]
    }
    for key, (place, row) in after.items():
        if key not in before:
            yield Difference(str(place), (("new", _row_text(row)),), "added")
            continue
        was, earlier = before[key]
        moved = key not in stayed
        texts = _row_text(earlier), _row_text(row)
        if texts[0] != texts[1]:
            yield Difference(f"{was} → {place}" if moved else str(place), word_pieces(*texts))
        elif moved:
            yield Difference(f"{was} → {place}", (("same", texts[1].split("\n")[0]),), "moved")


def _identity(row: Mapping[str, Any], place: int) -> str:
    return next((str(row[name]) for name in ("uid", "path", "task_id", "tool", "name") if row.get(name)), f"#{place}")


def _row_text(row: Mapping[str, Any]) -> str:
    """The row's own words first, then what else it says, without what is empty or only the studio's."""
    parts = [str(row[name]) for name in ("content", "criterion", "path", "task_id", "tool") if row.get(name)]
    for name, value in row.items():
        if name in ("uid", "source", "content", "criterion", "path", "task_id", "tool") or value in ("", None, [], {}):
            continue
        if DEFAULTS.get(name) == value:
            continue
        said = describe_value(value, name)
        parts.append(f"{label_of(name)}: {said}" if "\n" not in said else f"{label_of(name)}:\n{said}")
    return "\n".join(parts)


def _label(name: str) -> str:
    words = FIELD_LABELS.get(name, name.replace("_", " ")).removeprefix("the ")
    return words[:1].upper() + words[1:]
