"""Reads fields of a document as the types the format requires, reporting everything else."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from studio.domain.pibench.encoding import Encoded, decode
from studio.domain.pibench.nodes import Node
from studio.domain.problems import Report

ID_LENGTH = 200
PATH_LENGTH = 500


def text_at(parent: Node, key: str, report: Report, *, name: str = "", longest: int | None = None) -> str:
    """The exact text at ``key``; empty if absent. Numbers and dates become text, with a warning."""
    node = parent.get(key)
    if node is None or node.is_null:
        return ""
    return node_text(node, name or key, report, longest=longest)


def node_text(node: Node, name: str, report: Report, *, longest: int | None = None) -> str:
    if isinstance(node.value, str):
        value = node.value
    elif node.kind == "scalar":
        value = str(decode(node.value))
        node.warn(report, f"“{name}” is not text; it is read as “{value[:80]}”.", "Put it in quotes.")
    else:
        node.warn(
            report,
            f"“{name}” is a {_kind_name(node)}, not text; it is kept but read as empty.",
            "Write it as one text.",
        )
        return ""
    if longest is not None and len(value) > longest:
        node.error(report, f"“{name}” has {len(value):,} characters; at most {longest} are kept.", "Shorten it.")
        return value[:longest]
    return value


def identifier_at(parent: Node, key: str, report: Report) -> str:
    value = text_at(parent, key, report, longest=ID_LENGTH)
    node = parent.get(key)
    if node is not None and value != value.strip():
        node.warn(report, f"“{key}” has spaces around it: “{value}”.", "Remove them; they are kept but not used.")
    return value.strip()


def mapping_at(parent: Node, key: str, report: Report, *, name: str = "") -> Node:
    return as_mapping(parent.get(key), report, name or key)


def as_mapping(node: Node | None, report: Report, name: str) -> Node:
    if node is None or node.is_null:
        return Node("mapping", {})
    if node.kind != "mapping":
        node.error(
            report,
            f"“{name}” is a {_kind_name(node)} and must be a mapping.",
            "Write “key: value” lines, indented under it.",
        )
        return Node("mapping", {}, node.line, node.column)
    return node


def sequence_at(parent: Node, key: str, report: Report, *, name: str = "") -> Sequence[Node]:
    """Empty if absent or an error."""
    node = parent.get(key)
    if node is None or node.is_null:
        return []
    if node.kind != "sequence":
        node.error(
            report,
            f"“{name or key}” is a {_kind_name(node)} and must be a list.",
            "Put each entry in a line of its own that starts with “- ”.",
        )
        return []
    return node.items


def text_list(parent: Node, key: str, report: Report, *, name: str = "") -> tuple[str, ...]:
    name = name or key
    values = (
        node_text(item, f"{name}[{position}]", report, longest=PATH_LENGTH).strip()
        for position, item in enumerate(sequence_at(parent, key, report, name=name), 1)
    )
    return tuple(value for value in values if value)


def free_mapping(parent: Node, key: str, report: Report) -> Encoded:
    """An author's own mapping, encoded; any other value is stored under ``value``."""
    node = parent.get(key)
    if node is None or node.is_null:
        return {}
    if node.kind != "mapping":
        node.warn(report, f"“{key}” is a {_kind_name(node)}, not a mapping.", "Write “key: value” lines under it.")
        return {"value": node.value}
    return node.value


def warn_unknown(node: Node, known: Collection[str], report: Report, *, where: str = "") -> None:
    for key, _ in node.pairs:
        if not isinstance(key.value, str) or key.value not in known:
            location = f" in {where}" if where else ""
            key.warn(
                report,
                f"The key “{key.value}”{location} is not part of the format; it is kept but not used.",
                "If this is intended, ignore it; otherwise correct the spelling.",
            )


def _kind_name(node: Node) -> str:
    return {"sequence": "list", "mapping": "mapping"}.get(node.kind, "single value")
