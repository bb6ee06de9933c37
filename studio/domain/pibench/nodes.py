"""A YAML document: each part with its line and column, read as the types that the format requires. What is odd is
reported where it stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from studio.domain.pibench.encoding import TAG, Encoded, decode, encode_mapping, pairs_of
from studio.domain.problems import Report

NodeKind = Literal["scalar", "sequence", "mapping"]
ID_LENGTH = 200
PATH_LENGTH = 500


@dataclass(slots=True)
class Node:
    """One value. ``value`` is encoded as JSON (see ``encoding``)."""

    kind: NodeKind
    value: Encoded
    report: Report | None = None
    """None: nobody is told."""
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

    def given(self, key: str) -> Node | None:
        """What ``get`` says, unless it is null."""
        node = self.get(key)
        return None if node is None or node.is_null else node

    @property
    def keys(self) -> list[Node]:
        return [name for name, _ in self.pairs]

    @property
    def is_null(self) -> bool:
        return self.kind == "scalar" and self.value is None

    @property
    def kind_name(self) -> str:
        return {"sequence": "list", "mapping": "mapping"}.get(self.kind, "single value")

    def error(self, message: str, fix: str) -> None:
        if self.report:
            self.report.error(message, fix, line=self.line, column=self.column)

    def warn(self, message: str, fix: str) -> None:
        if self.report:
            self.report.warn(message, fix, line=self.line, column=self.column)

    def warn_unknown(self, *known: str, where: str = "") -> None:
        """Of a mapping."""
        for key in self.keys:
            if not isinstance(key.value, str) or key.value not in known:
                location = f" in {where}" if where else ""
                key.warn(
                    f"The key “{key.value}”{location} is not part of the format; it is kept but not used.",
                    "If this is intended, ignore it; otherwise correct the spelling.",
                )

    def as_text(self, name: str, longest: int | None = None) -> str:
        """Numbers and dates become text, with a warning."""
        if self.kind != "scalar":
            message = f"“{name}” is a {self.kind_name}, not text; it is kept but read as empty."
            self.warn(message, "Write it as one text.")
            return ""
        value = self.value
        if not isinstance(value, str):
            value = str(decode(value))
            self.warn(f"“{name}” is not text; it is read as “{value[:80]}”.", "Put it in quotes.")
        if longest is not None and len(value) > longest:
            self.error(f"“{name}” has {len(value):,} characters; at most {longest} are kept.", "Shorten it.")
        return value[:longest]

    def text(self, key: str, name: str = "", longest: int | None = None) -> str:
        """The exact text at ``key``; empty if absent."""
        node = self.given(key)
        return node.as_text(name or key, longest) if node else ""

    def identifier(self, key: str) -> str:
        value, node = self.text(key, longest=ID_LENGTH), self.get(key)
        if node is not None and value != value.strip():
            node.warn(f"“{key}” has spaces around it: “{value}”.", "Remove them; they are kept but not used.")
        return value

    def as_mapping(self, name: str) -> Node:
        if self.kind == "mapping":
            return self
        if self.is_null:
            return Node("mapping", {}, self.report)
        self.error(
            f"“{name}” is a {self.kind_name} and must be a mapping.", "Write “key: value” lines, indented under it."
        )
        return Node("mapping", {}, self.report, self.line, self.column)

    def mapping(self, key: str, name: str = "") -> Node:
        node = self.given(key)
        return node.as_mapping(name or key) if node else Node("mapping", {}, self.report)

    def sequence(self, key: str, name: str = "") -> Sequence[Node]:
        """Empty if absent or an error."""
        node = self.given(key)
        if node and node.kind != "sequence":
            message = f"“{name or key}” is a {node.kind_name} and must be a list."
            node.error(message, "Put each entry in a line of its own that starts with “- ”.")
        return node.items if node else ()

    def texts(self, key: str, name: str = "") -> tuple[str, ...]:
        items = enumerate(self.sequence(key, name), 1)
        values = (item.as_text(f"{name or key}[{position}]", PATH_LENGTH).strip() for position, item in items)
        return tuple(filter(None, values))

    def free_mapping(self, key: str) -> Encoded:
        """An author's own mapping, encoded; any other value is stored under ``value``."""
        node = self.given(key)
        if node and node.kind != "mapping":
            node.warn(f"“{key}” is a {node.kind_name}, not a mapping.", "Write “key: value” lines under it.")
            return {"value": node.value}
        return node.value if node else {}

    def choice(self, key: str, allowed: Collection[str]) -> str:
        """The value at ``key``; the first of ``allowed`` if absent or invalid."""
        first = next(iter(allowed))
        value = self.text(key).strip() or first
        if value in allowed:
            return value
        (self.get(key) or self).error(f"“{key}” is “{value}”.", f"Use one of {', '.join(allowed)}.")
        return first


def node_of(value: Encoded) -> Node:
    """Of which nothing is reported."""
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


def mapping_node(
    pairs: list[tuple[Node, Node]], report: Report | None = None, line: int | None = None, column: int | None = None
) -> Node:
    value = encode_mapping([(key.value, value.value) for key, value in pairs])
    return Node("mapping", value, report, line, column, pairs=pairs)
