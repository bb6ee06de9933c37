"""What differs between two versions of a task or persona: names and summaries of fields, and words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studio.domain.base import JsonDict, Spec, fields_of, is_same
from studio.domain.descriptions import describe_value, label_of, with_numbered_links
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

FIELD_LABELS = {name: about.label for name, about in fields_of(TaskSpec, PersonaSpec).items()} | {
    "episode": "the episode"
}


def changed_fields(old: Spec, new: Spec) -> list[str]:
    """Names of the fields that differ, in the spec's order. ``source`` fields count only if nothing else differs."""
    return content_fields(differing_fields(old, new))


def content_fields(fields: Sequence[str]) -> list[str]:
    """Without ``source`` fields, unless there are no others."""
    return [name for name in fields if not name.endswith("source")] or list(fields)


def differing_fields(old: Spec, new: Spec) -> list[str]:
    """Names of the fields that differ, in the spec's order."""
    return differing_keys(old.to_json(), new.to_json())


def differing_keys(before: JsonDict, after: JsonDict) -> list[str]:
    """``differing_fields`` of two documents, of which the first has all fields."""
    return [name for name in before if not is_same(before[name], after[name])]


def describe_changes(fields: Sequence[str]) -> str:
    labels = [FIELD_LABELS.get(name, name) for name in fields]
    if not labels:
        return "Nothing changed."
    if len(labels) == 1:
        return f"Changed {labels[0]}."
    return f"Changed {', '.join(labels[:-1])} and {labels[-1]}."


def save_summary(version: int, fields: Sequence[str], *, verb: str, note: str = "") -> str:
    created = "Imported." if verb == "imported" else "Created."
    return " ".join(filter(None, [note, created if version == 1 else describe_changes(fields)]))


Piece = tuple[str, str]
"""``("same" | "gone" | "new", text)``."""

TOKENS = re.compile(r"\s+|\w+|[^\w\s]")


DEFAULTS = {"scope": "session_local", "initial_status": "not_provided", "grader": "rubric", "weight": 1.0}
"""Values of a row that are not worth showing."""


@dataclass(frozen=True)
class Difference:
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
    before, after = with_numbered_links(old.to_json()), with_numbered_links(new.to_json())
    return [
        FieldChange(name, _label(name), list(_differences(before[name], after[name])))
        for name in changed_fields(old, new)
    ]


def compare_orders(old: Sequence[str], new: Sequence[str]) -> list[FieldChange]:
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
    """A diff in lines, with words marked inside changed lines and up to three lines of context."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    pieces: list[Piece] = []
    opcodes = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for index, (tag, a1, a2, b1, b2) in enumerate(opcodes):
        was, now = "".join(a[a1:a2]), "".join(b[b1:b2])
        if tag == "equal":
            head, tail = (3 if index else 0), (3 if index < len(opcodes) - 1 else 0)
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
    if _is_list_of_rows(old) and _is_list_of_rows(new) and (old or new):
        yield from _row_differences(old, new)
    else:
        yield Difference("", word_pieces(describe_value(old), describe_value(new)))


def _is_list_of_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _row_differences(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    """Rows are matched by uid, path, task or tool, otherwise by position."""
    old_rows = {_identity(row, position): (position, row) for position, row in enumerate(old, 1)}
    new_rows = {_identity(row, position): (position, row) for position, row in enumerate(new, 1)}
    for key, (position, row) in old_rows.items():
        if key not in new_rows:
            yield Difference(str(position), (("gone", _row_text(row)),), "removed")
    order = [key for key in old_rows if key in new_rows], [key for key in new_rows if key in old_rows]
    unmoved = {
        key
        for block in difflib.SequenceMatcher(None, *order, autojunk=False).get_matching_blocks()
        for key in order[0][block.a : block.a + block.size]
    }
    for key, (position, row) in new_rows.items():
        if key not in old_rows:
            yield Difference(str(position), (("new", _row_text(row)),), "added")
            continue
        old_position, old_row = old_rows[key]
        moved = key not in unmoved
        texts = _row_text(old_row), _row_text(row)
        if texts[0] != texts[1]:
            yield Difference(f"{old_position} → {position}" if moved else str(position), word_pieces(*texts))
        elif moved:
            yield Difference(f"{old_position} → {position}", (("same", texts[1].split("\n")[0]),), "moved")


def _identity(row: Mapping[str, Any], position: int) -> str:
    return next(
        (str(row[name]) for name in ("uid", "path", "task_id", "tool", "name") if row.get(name)), f"#{position}"
    )


def _row_text(row: Mapping[str, Any]) -> str:
    parts = [str(row[name]) for name in ("content", "criterion", "path", "task_id", "tool") if row.get(name)]
    for name, value in row.items():
        if name in ("uid", "source", "content", "criterion", "path", "task_id", "tool") or value in ("", None, [], {}):
            continue
        if DEFAULTS.get(name) == value:
            continue
        text = describe_value(value, name)
        parts.append(f"{label_of(name)}: {text}" if "\n" not in text else f"{label_of(name)}:\n{text}")
    return "\n".join(parts)


def _label(name: str) -> str:
    label = FIELD_LABELS.get(name, name.replace("_", " ")).removeprefix("the ")
    return label[:1].upper() + label[1:]
