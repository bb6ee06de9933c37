"""JSON and YAML as a tree to fold, cut at a number of nodes: a few bytes of YAML can stand for millions of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from studio.files.previews.syntax import read_yaml

MAX_NODES = 3_000
MAX_DEPTH = 30
OPEN_DEPTH = 2
"""Levels that start unfolded."""
MAX_TEXT = 2_000
"""Characters of a key or value."""


@dataclass(frozen=True)
class TreeNode:
    """One step of walking the tree: a value, ``open`` or ``fold`` for the start of a branch, or its ``end``.

    A flat sequence lets a template render any depth in one loop.
    """

    kind: Literal["open", "fold", "end", "string", "value", "empty", "cut"]
    key: str = ""
    text: str = ""
    """The value; of a branch, the number of its entries."""


def read_data(kind: str, text: str) -> Any:
    """Parse ``json`` or ``yaml``. Raises ValueError."""
    return json.loads(text) if kind == "json" else read_yaml(text)


def tree_nodes(value: Any) -> tuple[TreeNode, ...]:
    """The value's nodes in order. A ``cut`` node stands for what was left out."""
    return tuple(_Walk().nodes(value, 0))


class _Walk:
    def __init__(self) -> None:
        self.left = MAX_NODES

    def nodes(self, value: Any, depth: int, key: str = "") -> Iterator[TreeNode]:
        self.left -= 1
        if not isinstance(value, dict | list | tuple | set) or not value:
            yield _leaf(value, key)
            return
        if depth >= MAX_DEPTH or self.left <= 0:
            yield TreeNode("cut", key)
            return
        count = f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
        yield TreeNode("open" if depth < OPEN_DEPTH else "fold", key, count)
        entries = value.items() if isinstance(value, dict) else enumerate(value, 1)
        for name, inner in entries:
            if self.left <= 0:
                yield TreeNode("cut")
                break
            yield from self.nodes(inner, depth + 1, _short(name))
        yield TreeNode("end")


def _leaf(value: Any, key: str) -> TreeNode:
    if isinstance(value, str):
        return TreeNode("string", key, _short(value)) if value else TreeNode("empty", key)
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        text = "a number too long to show"
    return TreeNode("value", key, _short(text))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
