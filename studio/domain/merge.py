"""Two people changed one thing: a three-way merge, field by field and row by row, that loses nobody's words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from studio.domain.base import Spec

S = TypeVar("S", bound=Spec)
FieldPath = tuple[str, ...]
"""The names that lead to a value: a field of the spec, then the row's identity (an intent's uid, a file's path, a
key, which may be empty), then a field of the row; the last two only where there are any."""

ROW_IDENTITY = {
    "intents": ("uid",),
    "checklist": ("uid",),
    "depends_on": ("task_id",),
    "assets": ("path",),
    "expected_artifacts": ("path",),
    "tool_evidence": ("tool",),
    "recoverable_from": ("kind", "ref"),
    "skills": ("name",),
    "scripts": ("path",),
    "files": ("path",),
}
"""What makes a row the same row in all three versions."""
ATOMIC_KEYS = {"rule", "source", "content", "reference"}
"""Mappings that mean something only as one."""
MAX_PATH_LENGTH = 3
"""What lies deeper in a mapping is chosen with what it lies in."""
FILE_LISTS = ("assets",)
"""Lists of files. Hash and size of one are its ``content`` here: a choice between two is a choice of both."""

PATH_LISTS = ("expected_artifacts",)
"""Lists in which a row may stand as its path."""


@dataclass(frozen=True)
class Conflict:
    """One place that both changed, to different things; a row as a whole if one of them removed it."""

    place: FieldPath
    base: Any
    theirs: Any
    """None where they removed it."""
    mine: Any


@dataclass(frozen=True)
class Merged(Generic[S]):
    spec: S
    """Everything that either changed; where both did, mine, and of a row that one removed what the other wrote."""
    conflicts: tuple[Conflict, ...]


def merge(base: S, theirs: S, mine: S) -> Merged[S]:
    """What both made of ``base``, and the places where somebody has to choose."""
    conflicts: list[Conflict] = []
    value = _mapping(_plain(base), _plain(theirs), _plain(mine), (), conflicts)
    return Merged(_spec(mine, value), tuple(conflicts))


def take_value(spec: S, other: S, place: FieldPath) -> S:
    """``spec`` with what the ``other`` says at a conflict's place."""
    value = _plain(spec)
    _take(value, _plain(other), place)
    return _spec(spec, value)


def value_at(spec: Spec, place: FieldPath) -> Any:
    """What a version says at a conflict's place; None if it has no such row."""
    value: Any = _plain(spec)
    name = ""
    for key in place:
        rows = _keyed(value, name) if isinstance(value, list) else value
        if not isinstance(rows, dict) or key not in rows:
            return None
        value, name = rows[key], key
    return value


def _plain(spec: Spec) -> dict[str, Any]:
    value = spec.to_json()
    for name in PATH_LISTS:
        for place, row in enumerate(value.get(name, ())):
            if isinstance(row, str):
                value[name][place] = {"path": row, "note": "", "reference": None}
    for name in FILE_LISTS:
        for file in value.get(name, ()):
            file["content"] = {"sha256": file.pop("sha256"), "size": file.pop("size")}
    return value


def _spec(like: S, value: dict[str, Any]) -> S:
    files = {name: [{**file, **file["content"]} for file in value[name]] for name in FILE_LISTS if name in value}
    for file in (file for rows in files.values() for file in rows):
        del file["content"]
    return like.model_validate(value | files)


def _take(mine: dict[str, Any], theirs: dict[str, Any], place: FieldPath) -> None:
    """Change ``mine`` in place. Nothing happens where there is no such place in either."""
    key, rest = place[0], place[1:]
    if not rest or key not in mine or key not in theirs:
        if key in theirs:
            mine[key] = theirs[key]
        else:
            mine.pop(key, None)
        return
    if isinstance(mine[key], dict) and isinstance(theirs[key], dict):
        return _take(mine[key], theirs[key], rest)
    rows, other = _keyed(mine[key], key), _keyed(theirs[key], key)
    if rows is None or other is None:
        mine[key] = theirs[key]
        return
    _take(rows, other, rest)
    mine[key] = list(rows.values())


def _value(base: Any, theirs: Any, mine: Any, path: tuple[str, ...], conflicts: list[Conflict]) -> Any:
    if _same(theirs, mine) or _same(base, mine):
        return theirs
    if _same(base, theirs):
        return mine
    name = path[-1]
    if name not in ATOMIC_KEYS and all(isinstance(each, dict) for each in (base, theirs, mine)):
        return _mapping(base, theirs, mine, path, conflicts)
    if all(isinstance(each, list) for each in (base, theirs, mine)):
        rows = _keyed(base, name), _keyed(theirs, name), _keyed(mine, name)
        if rows[0] is not None and rows[1] is not None and rows[2] is not None:
            return list(_mapping(rows[0], rows[1], rows[2], path, conflicts).values())
    conflicts.append(Conflict(path[:MAX_PATH_LENGTH], base, theirs, mine))
    return mine


def _mapping(
    base: dict[str, Any],
    theirs: dict[str, Any],
    mine: dict[str, Any],
    path: tuple[str, ...],
    conflicts: list[Conflict],
) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key in dict.fromkeys((*base, *theirs, *mine)):
        here = (*path, key)
        if key in theirs and key in mine:
            merged[key] = _value(base.get(key), theirs[key], mine[key], here, conflicts)
        elif key not in base:
            merged[key] = theirs[key] if key in theirs else mine[key]
        elif (left := theirs.get(key, mine.get(key))) is not None and not _same(left, base[key]):
            merged[key] = left
            conflicts.append(Conflict(here[:MAX_PATH_LENGTH], base[key], theirs.get(key), mine.get(key)))
    return {key: merged[key] for key in _order(list(base), list(theirs), list(mine)) if key in merged}


def _order(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> list[str]:
    """Mine if I moved something, else theirs; what only the other has comes after what it stood after."""
    both = set(base) & set(mine)
    moved = [key for key in base if key in both] != [key for key in mine if key in both]
    first, second = (mine, theirs) if moved else (theirs, mine)
    result = list(first)
    before = None
    for key in second:
        if key not in result:
            result.insert(result.index(before) + 1 if before is not None else 0, key)
        before = key
    return result


def _keyed(rows: Iterable[Any], name: str) -> dict[str, Any] | None:
    """Rows by what identifies them; None where that is not unique, or they are no rows."""
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


def _same(one: Any, other: Any) -> bool:
    """Unlike ``==``, also told apart: the order of keys, 1 and 1.0 and true."""
    return one is other or json.dumps(one) == json.dumps(other)
