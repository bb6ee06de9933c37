"""Limits a script enforces on numbers of words, characters, lines and the like."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from studio.domain.graders.values import Names, value_of

MEASURES = {
    "word": r"word",
    "character": r"char|letter",
    "sentence": r"sentence",
    "paragraph": r"paragraph",
    "bullet": r"bullet",
    "question": r"question",
    "slide": r"slide",
    "page": r"page",
    "item": r"item",
    "row": r"row",
    "line": r"line",
    "step": r"step",
    "post": r"post",
    "headline": r"headline",
    "option": r"option",
}
"""Unit, as sentences name it, and a pattern for names in scripts."""
_TEXT = re.compile(r"^(?:text|body|content|message|msg|sms|caption|note|summary|letter|reply)$", re.IGNORECASE)


@dataclass(frozen=True)
class Amount:
    """The range of a count that passes."""

    noun: str
    low: float
    high: float
    line: int


def amounts(tree: ast.Module, names: Names) -> Iterator[Amount]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) <= 2:
            yield from _amount_in(node, names)


def _amount_in(node: ast.Compare, names: Names) -> Iterator[Amount]:
    parts = [node.left, *node.comparators]
    values = [_number(part, names) for part in parts]
    counted = [index for index, number in enumerate(values) if number is None]
    if len(counted) != 1 or not (noun := _counted_noun(parts[counted[0]])):
        return
    low, high, index = 0.0, float("inf"), counted[0]
    for position, op in enumerate(node.ops):
        number = values[position + 1] if position == index else values[position]
        if number is None:
            return
        op = op if position == index else _mirrored(op)
        match op:
            case ast.LtE():
                high = min(high, number)
            case ast.Lt():
                high = min(high, number - 1)
            case ast.GtE():
                low = max(low, number)
            case ast.Gt():
                low = max(low, number + 1)
            case ast.Eq():
                low = high = number
            case _:
                return
    if high > 1 and (low > 1 or high < float("inf")):  # “at least one” only asks whether there is any
        yield Amount(noun, low, high, node.lineno)


def _mirrored(op: ast.cmpop) -> ast.cmpop:
    match op:
        case ast.LtE():
            return ast.GtE()
        case ast.Lt():
            return ast.Gt()
        case ast.GtE():
            return ast.LtE()
        case ast.Gt():
            return ast.Lt()
    return op


def _number(node: ast.AST, names: Names) -> int | None:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            factor, other_factor = _number(left, names), _number(right, names)
            return (
                factor * other_factor
                if factor is not None and other_factor is not None and abs(factor * other_factor) < 10**9
                else None
            )
    value = value_of(node, names)
    return value if isinstance(value, int) else None


def _counted_noun(node: ast.AST) -> str:
    is_length = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args
    inner = node.args[0] if is_length and isinstance(node, ast.Call) else node
    match inner:
        case ast.Call(func=ast.Attribute(attr="split"), args=[]):
            return "word"
        case ast.Call(func=ast.Attribute(attr="splitlines")):
            return "line"
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if is_length and _TEXT.match(name):
                return "character"
            return _noun_in_name(name)
        case ast.Call(func=ast.Name(id=name)):
            return _noun_in_name(name)
    return ""


def _noun_in_name(name: str) -> str:
    nouns = [noun for noun, pattern in MEASURES.items() if re.search(pattern, name, re.IGNORECASE)]
    return nouns[0] if len(nouns) == 1 else ""
