"""The constants of a script, as far as they can be told without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MOST = 60
"""Elements of a collection that are looked at."""
LONGEST = 5_000
"""Characters of a text put together."""


@dataclass(frozen=True)
class OneOf:
    """A value that is one of these, in turn: what a loop or ``any`` runs through."""

    values: tuple[Value, ...]


Value = str | int | tuple["Value", ...] | OneOf
Names = Mapping[str, Value]

_UNCHANGED = {"lower", "upper", "strip", "casefold", "lstrip", "rstrip", "title", "split", "copy", "keys"}
_COLLECTIONS = {"frozenset", "set", "tuple", "list", "sorted"}


def value_of(node: ast.AST, names: Names) -> Value | None:
    """What an expression stands for; None: that cannot be told."""
    match node:
        case ast.Constant(value=bool() | None):
            return None
        case ast.Constant(value=str() | int() as constant):
            return constant
        case ast.Name(id=name):
            return names.get(name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            found = [value_of(each, names) for each in elements[:MOST]]
            return tuple(each for each in found if each is not None)
        case ast.Dict(keys=keys):
            return tuple(each for key in keys[:MOST] if key and (each := value_of(key, names)) is not None)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = value_of(left, names), value_of(right, names)
            if isinstance(one, str) and isinstance(other, str):
                return (one + other)[:LONGEST]
            if isinstance(one, tuple) and isinstance(other, tuple):
                return (one + other)[:MOST]
            return None
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _UNCHANGED:
            return value_of(inner, names)
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _COLLECTIONS:
            return value_of(inner, names)
        case ast.Subscript(value=inner, slice=ast.Constant(value=int() as place)):
            whole = value_of(inner, names)
            return whole[place] if isinstance(whole, tuple) and -len(whole) <= place < len(whole) else None
    return None


def flat(value: Value | None) -> Iterator[str | int]:
    """The texts and numbers in it."""
    match value:
        case str() | int():
            yield value
        case tuple():
            for each in value:
                yield from flat(each)
        case OneOf(values=values):
            for each in values:
                yield from flat(each)


def texts_in(value: Value | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in flat(value) if isinstance(each, str)))


def assigned(tree: ast.AST) -> dict[str, Value]:
    """Names that stand for constants throughout: given one once and never changed."""
    given: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                given.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name)):
                given.setdefault(name, []).append(None)
            case ast.For(target=ast.Name(id=name)):
                given.setdefault(name, []).append(None)
    names: dict[str, Value] = {}
    for name, values in given.items():
        if len(values) == 1 and values[0] is not None:
            found = value_of(values[0], names)
            if found is not None and found not in ((), ""):
                names[name] = found
    return names
