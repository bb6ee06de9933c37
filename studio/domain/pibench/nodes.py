"""A YAML document with the line and column of every part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from studio.domain.pibench.encoding import TAG, Encoded, encode_mapping, pairs_of
from studio.domain.problems import Report

NodeKind = Literal["scalar", "sequence", "mapping"]


@dataclass(slots=True)
class Node:
    """One value. ``value`` is encoded as JSON (see ``encoding``)."""

    kind: NodeKind
    value: Encoded
    line: int | None = None
    """1-based; None: not read from text."""
    column: int | None = None
    items: Sequence[Node] = ()
    """Of a sequence."""
    pairs: Sequence[tuple[Node, Node]] = ()
    """Of a mapping."""
    nodes: int = 1
    """Number of nodes in it, each alias counted in full."""
    characters: int = 0
    """Characters of its scalars, counted likewise."""

    def get(self, key: str) -> Node | None:
        for name, value in self.pairs:
            if name.value == key:
                return value
        return None

    def key_nodes(self) -> list[Node]:
        return [name for name, _ in self.pairs]

    @property
    def is_null(self) -> bool:
        return self.kind == "scalar" and self.value is None

    def error(self, report: Report, message: str, fix: str) -> None:
        report.error(message, fix, line=self.line, column=self.column)

    def warn(self, report: Report, message: str, fix: str) -> None:
        report.warn(message, fix, line=self.line, column=self.column)


def node_of(value: Encoded) -> Node:
    if isinstance(value, str):
        return Node("scalar", value)
    if isinstance(value, list):
        return Node("sequence", value, items=[node_of(item) for item in value])
    if isinstance(value, dict) and TAG not in value:
        return Node("mapping", value, pairs=[(Node("scalar", key), node_of(item)) for key, item in value.items()])
    pairs = pairs_of(value)
    if pairs is not None:
        return mapping_node([(node_of(key), node_of(item)) for key, item in pairs])
    return Node("scalar", value)


def mapping_node(pairs: list[tuple[Node, Node]], line: int | None = None, column: int | None = None) -> Node:
    return Node(
        "mapping",
        encode_mapping([(key.value, value.value) for key, value in pairs]),
        line,
        column,
        pairs=pairs,
    )
