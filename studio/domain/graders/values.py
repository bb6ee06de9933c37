"""Constant folding for grader scripts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_ELEMENTS = 60
"""Maximum elements read of a collection."""
LONGEST = 5_000
"""Maximum characters of a concatenated text."""


@dataclass(frozen=True)
class OneOf:
    """Each of these values in turn: the variable of a loop or comprehension."""

    values: tuple[Value, ...]


Value = str | int | tuple["Value", ...] | OneOf
Names = Mapping[str, Value]

_UNCHANGED = {"lower", "upper", "strip", "casefold", "lstrip", "rstrip", "title", "split", "copy", "keys"}
_COLLECTIONS = {"frozenset", "set", "tuple", "list", "sorted"}


def value_of(node: ast.AST, names: Names) -> Value | None:
    """The constant value of an expression; None if unknown."""
    match node:
        case ast.Constant(value=bool() | None):
            return None
        case ast.Constant(value=str() | int() as constant):
            return constant
        case ast.Name(id=name):
            return names.get(name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            values = [value_of(each, names) for each in elements[:MAX_ELEMENTS]]
            return tuple(each for each in values if each is not None)
        case ast.Dict(keys=keys):
            return tuple(each for key in keys[:MAX_ELEMENTS] if key and (each := value_of(key, names)) is not None)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            left_value, right_value = value_of(left, names), value_of(right, names)
            if isinstance(left_value, str) and isinstance(right_value, str):
                return (left_value + right_value)[:LONGEST]
            if isinstance(left_value, tuple) and isinstance(right_value, tuple):
                return (left_value + right_value)[:MAX_ELEMENTS]
            return None
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _UNCHANGED:
            return value_of(inner, names)
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _COLLECTIONS:
            return value_of(inner, names)
        case ast.Subscript(value=inner, slice=ast.Constant(value=int() as index)):
            whole = value_of(inner, names)
            return whole[index] if isinstance(whole, tuple) and -len(whole) <= index < len(whole) else None
    return None


def flatten(value: Value | None) -> Iterator[str | int]:
    match value:
        case str() | int():
            yield value
        case tuple():
            for each in value:
                yield from flatten(each)
        case OneOf(values=values):
            for each in values:
                yield from flatten(each)


def texts_in(value: Value | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in flatten(value) if isinstance(each, str)))


def constant_names(tree: ast.AST) -> dict[str, Value]:
    assignments: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assignments.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                assignments.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name)):
                assignments.setdefault(name, []).append(None)
            case ast.For(target=ast.Name(id=name)):
                assignments.setdefault(name, []).append(None)
    names: dict[str, Value] = {}
    for name, values in assignments.items():
        if len(values) == 1 and values[0] is not None:
            constant = value_of(values[0], names)
            if constant is not None and constant not in ((), ""):
                names[name] = constant
    return names
