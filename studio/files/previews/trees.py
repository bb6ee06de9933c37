"""JSON and YAML as collapsible trees, limited because a few bytes of YAML can expand to millions of nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

from studio.files.previews.syntax import read_yaml

NODES = 3_000
DEPTH = 30
OPEN = 2
"""Levels that are expanded at first."""
STRING = 2_000
LINES = 200


@dataclass
class Tree:
    html: str
    cut: bool
    """Whether the value has more than is drawn."""


def draw(value: Any) -> Tree:
    writer = _TreeWriter()
    return Tree(f'<div class="tree">{writer.node(value, 0)}</div>', writer.cut)


def read_data(kind: str, text: str) -> Any:
    return json.loads(text) if kind == "json" else read_yaml(text)


class _TreeWriter:
    def __init__(self) -> None:
        self.nodes_left = NODES
        self.cut = False

    def node(self, value: Any, depth: int, key: str = "") -> str:
        self.nodes_left -= 1
        label = f'<span class="key">{escape(key)}</span> ' if key else ""
        if not isinstance(value, dict | list | tuple | set) or not value:
            return f"<div>{label}{_leaf(value)}</div>"
        if depth >= DEPTH or self.nodes_left <= 0:
            self.cut = True
            return f'<div>{label}<span class="quiet">…</span></div>'
        pairs = value.items() if isinstance(value, dict) else enumerate(value, 1)
        count = f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
        parts = []
        for name, inner in pairs:
            if self.nodes_left <= 0:
                self.cut = True
                parts.append('<div class="quiet">…</div>')
                break
            parts.append(self.node(inner, depth + 1, _short(name)))
        is_open = " open" if depth < OPEN else ""
        return (
            f'<details{is_open}><summary>{label}<span class="quiet">{count}</span></summary>{"".join(parts)}</details>'
        )


def _leaf(value: Any) -> str:
    if isinstance(value, str):
        return f'<span class="string">{escape(_short(value))}</span>' if value else '<span class="quiet">“”</span>'
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        text = "a number too long to show"
    return f'<span class="value">{escape(_short(text))}</span>'


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= STRING else f"{text[:STRING]}…"
