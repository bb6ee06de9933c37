"""Three-way merge of concurrent edits, field by field and row by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Generic, TypeVar

from studio.domain.base import Spec, fields_of, is_same
from studio.domain.persona import PersonaSpec
from studio.domain.task import HiddenIntent, TaskSpec

MAX_LINES = 4_000
"""Longer texts are not compared line by line."""
Change = tuple[int, int, list[str]]
"""First and last line of the base (exclusive), and the lines in their place."""


def merge_lines(base: str, theirs: str, mine: str) -> str | None:
    """Both sides' changes; None if they touch the same or neighbouring lines in different ways."""
    lines, others, own = base.split("\n"), theirs.split("\n"), mine.split("\n")
    if max(len(lines), len(others), len(own)) > MAX_LINES:
        return None
    changes = _changes(lines, own)
    for change in _changes(lines, others):
        if change in changes:
            continue
        if any(change[0] <= one[1] and one[0] <= change[1] for one in changes):
            return None
        changes.append(change)
    for start, end, replacement in sorted(changes, reverse=True):
        lines[start:end] = replacement
    return "\n".join(lines)


def _changes(base: list[str], text: list[str]) -> list[Change]:
    codes = SequenceMatcher(None, base, text, autojunk=False).get_opcodes()
    return [(i1, i2, text[j1:j2]) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


SpecT = TypeVar("SpecT", bound=Spec)
FieldPath = tuple[str, ...]
"""Path to a value: a field of the spec, then the row's identity (such as an intent's uid or a file's path; it may be
empty), then a field of the row. The last two are optional."""

ROW_IDENTITY = {
    name: about.identity.split()
    for spec in (TaskSpec, HiddenIntent, PersonaSpec)
    for name, about in fields_of(spec).items()
    if about.identity
}
"""Fields that identify a row across versions."""
ATOMIC_KEYS = {"rule", "source", "content", "reference"}
"""Mappings that are never merged key by key."""
MAX_PATH_LENGTH = 3
"""Deeper conflicts are resolved together with the value they are part of."""
FILE_LISTS = ("assets",)
"""Lists of files. While merging, a file's hash and size are one value, ``content``."""

PATH_LISTS = ("expected_artifacts",)
"""Lists in which a row may be given as its path alone."""


@dataclass(frozen=True)
class Conflict:
    """A value that both sides changed differently; the whole row if one side removed it."""

    path: FieldPath
    base: Any
    theirs: Any
    """None if they removed it."""
    mine: Any


@dataclass(frozen=True)
class Merged(Generic[SpecT]):
    spec: SpecT
    """All changes of both sides. Conflicts contain my value, or the surviving row if one side removed it."""
    conflicts: tuple[Conflict, ...]


def merge(base: SpecT, theirs: SpecT, mine: SpecT) -> Merged[SpecT]:
    conflicts: list[Conflict] = []
    value = _merge_mappings(_to_mapping(base), _to_mapping(theirs), _to_mapping(mine), (), conflicts)
    return Merged(_to_spec(mine, value), tuple(conflicts))


def take_value(spec: SpecT, other: SpecT, path: FieldPath) -> SpecT:
    value = _to_mapping(spec)
    _take_in_place(value, _to_mapping(other), path)
    return _to_spec(spec, value)


def value_at(spec: Spec, path: FieldPath) -> Any:
    value: Any = _to_mapping(spec)
    name = ""
    for key in path:
        rows = _rows_by_identity(value, name) if isinstance(value, list) else value
        if not isinstance(rows, dict) or key not in rows:
            return None
        value, name = rows[key], key
    return value


def _to_mapping(spec: Spec) -> dict[str, Any]:
    value = spec.to_json()
    for name in PATH_LISTS:
        for index, row in enumerate(value.get(name, ())):
            if isinstance(row, str):
                value[name][index] = {"path": row, "note": "", "reference": None}
    for name in FILE_LISTS:
        for file in value.get(name, ()):
            file["content"] = {"sha256": file.pop("sha256"), "size": file.pop("size")}
    return value


def _to_spec(like: SpecT, value: dict[str, Any]) -> SpecT:
    files = {name: [{**file, **file["content"]} for file in value[name]] for name in FILE_LISTS if name in value}
    for file in (file for rows in files.values() for file in rows):
        del file["content"]
    return like.model_validate(value | files)


def _take_in_place(mine: dict[str, Any], theirs: dict[str, Any], path: FieldPath) -> None:
    key, rest = path[0], path[1:]
    if not rest or key not in mine or key not in theirs:
        if key in theirs:
            mine[key] = theirs[key]
        else:
            mine.pop(key, None)
        return
    if isinstance(mine[key], dict) and isinstance(theirs[key], dict):
        return _take_in_place(mine[key], theirs[key], rest)
    rows, other = _rows_by_identity(mine[key], key), _rows_by_identity(theirs[key], key)
    if rows is None or other is None:
        mine[key] = theirs[key]
        return
    _take_in_place(rows, other, rest)
    mine[key] = list(rows.values())


def _merge_values(base: Any, theirs: Any, mine: Any, path: tuple[str, ...], conflicts: list[Conflict]) -> Any:
    if is_same(theirs, mine) or is_same(base, mine):
        return theirs
    if is_same(base, theirs):
        return mine
    name = path[-1]
    if name not in ATOMIC_KEYS and all(isinstance(each, dict) for each in (base, theirs, mine)):
        return _merge_mappings(base, theirs, mine, path, conflicts)
    if all(isinstance(each, list) for each in (base, theirs, mine)):
        rows = _rows_by_identity(base, name), _rows_by_identity(theirs, name), _rows_by_identity(mine, name)
        if rows[0] is not None and rows[1] is not None and rows[2] is not None:
            return list(_merge_mappings(rows[0], rows[1], rows[2], path, conflicts).values())
    if isinstance(base, str) and isinstance(theirs, str) and isinstance(mine, str) and "\n" in base:
        text = merge_lines(base, theirs, mine)
        if text is not None:
            return text
    conflicts.append(Conflict(path[:MAX_PATH_LENGTH], base, theirs, mine))
    return mine


def _merge_mappings(
    base: dict[str, Any],
    theirs: dict[str, Any],
    mine: dict[str, Any],
    path: tuple[str, ...],
    conflicts: list[Conflict],
) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key in dict.fromkeys((*base, *theirs, *mine)):
        child_path = (*path, key)
        if key in theirs and key in mine:
            merged[key] = _merge_values(base.get(key), theirs[key], mine[key], child_path, conflicts)
        elif key not in base:
            merged[key] = theirs[key] if key in theirs else mine[key]
        elif (remaining := theirs.get(key, mine.get(key))) is not None and not is_same(remaining, base[key]):
            merged[key] = remaining
            conflicts.append(Conflict(child_path[:MAX_PATH_LENGTH], base[key], theirs.get(key), mine.get(key)))
    return {key: merged[key] for key in merge_order(list(base), list(theirs), list(mine)) if key in merged}


def merge_order(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> list[str]:
    """My order if I moved something, else theirs. Rows only the other side has go after their predecessor there."""
    shared = set(base) & set(mine)
    moved = [key for key in base if key in shared] != [key for key in mine if key in shared]
    first, second = (mine, theirs) if moved else (theirs, mine)
    result = list(first)
    previous = None
    for key in second:
        if key not in result:
            result.insert(result.index(previous) + 1 if previous is not None else 0, key)
        previous = key
    return result


def _rows_by_identity(rows: Iterable[Any], name: str) -> dict[str, Any] | None:
    """None if the rows have no unique identity."""
    keyed: dict[str, Any] = {}
    for row in rows:
        if isinstance(row, str):
            key = row
        elif isinstance(row, dict) and name in ROW_IDENTITY:
            key = "\x1f".join(str(row[part]) for part in ROW_IDENTITY[name])
        else:
            return None
        if key in keyed:
            return None
        keyed[key] = row
    return keyed
