"""Builds nodes from the events of a YAML parser, within limits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from studio.domain.pibench.encoding import encode_scalar, encode_set
from studio.domain.pibench.nodes import Node, NodeKind, mapping_node
from studio.domain.problems import Report

MAX_CHARACTERS = 8_000_000
"""Characters of one document after expansion of aliases."""
MAX_NODES = 100_000
MAX_ALIASES = 1_000
MAX_DEPTH = 64
MAX_NUMBER_CHARACTERS = 3_500
"""Of one number: in any base it then has fewer than the 4,300 digits that Python converts."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CORE = "tag:yaml.org,2002:"


class YamlLimitError(Exception):
    """The document breaks a limit; reading on would do what the limit prevents."""


@dataclass(slots=True)
class _OpenCollection:
    """A collection that is not closed yet."""

    kind: NodeKind
    line: int
    column: int
    anchor: str | None
    is_set: bool = False
    children: list[Node] = field(default_factory=list)
    nodes: int = 1
    characters: int = 0


@dataclass
class NodeBuilder:
    report: Report
    root: Node | None = None
    stack: list[_OpenCollection] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)
    """None: still open."""
    merges: set[int] = field(default_factory=set)
    """Ids of the ``<<`` keys."""
    aliases: int = 0
    documents: int = 0
    resolver: Any = field(default_factory=yaml.resolver.Resolver)
    constructor: Any = field(default_factory=yaml.constructor.SafeConstructor)

    def feed(self, event: Any) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._start_document(event)
            case yaml.ScalarEvent():
                self._add(self._scalar(event), event.anchor)
            case yaml.AliasEvent():
                self._add(self._alias(event), None)
            case yaml.SequenceStartEvent():
                self._check_tag(event, ("seq",))
                self._open("sequence", event)
            case yaml.MappingStartEvent():
                self._check_tag(event, ("map", "set"))
                self._open("mapping", event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._close()

    def _start_document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self._fail(event, "The file holds more than one document.", "Remove what follows the line “---”.")

    def _open(self, kind: NodeKind, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self._fail(event, f"This is nested more than {MAX_DEPTH} deep.", "Make the document flatter.")
        if event.anchor:
            self.anchors[event.anchor] = None
        line, column = _position(event)
        self.stack.append(_OpenCollection(kind, line, column, event.anchor, is_set=event.tag == f"{_CORE}set"))

    def _close(self) -> None:
        done = self.stack.pop()
        if done.kind == "sequence":
            node = Node(
                "sequence", [child.value for child in done.children], done.line, done.column, items=done.children
            )
        else:
            pairs = self._unique_pairs(list(zip(done.children[::2], done.children[1::2], strict=True)))
            node = mapping_node(pairs, done.line, done.column)
            if done.is_set:
                node = Node("scalar", encode_set([key.value for key, _ in pairs]), done.line, done.column)
        node.nodes, node.characters = done.nodes, done.characters
        self._add(node, done.anchor)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor:
            self.anchors[anchor] = node
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.children.append(node)
        parent.nodes += node.nodes
        parent.characters += node.characters
        if parent.nodes > MAX_NODES or parent.characters > MAX_CHARACTERS:
            self.report.error(
                "The document expands beyond the limits.",
                f"Keep it below {MAX_NODES:,} values and {MAX_CHARACTERS:,} characters, repeated parts counted.",
                line=node.line,
                column=node.column,
            )
            raise YamlLimitError

    def _alias(self, event: Any) -> Node:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            self._fail(event, f"There are more than {MAX_ALIASES:,} references.", "Write the parts out.")
        node = self.anchors.get(event.anchor, ...)
        if isinstance(node, Node):
            return node
        if node is None:
            self._fail(event, f"“*{event.anchor}” refers to something it is a part of.", "Write the part out.")
        self._fail(
            event,
            f"“*{event.anchor}” refers to nothing above.",
            "Put the text in quotes: a word that starts with * is read as a reference.",
        )
        raise AssertionError

    def _scalar(self, event: Any) -> Node:
        line, column = _position(event)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        node = Node("scalar", None, line, column, characters=len(event.value))
        match tag.removeprefix(_CORE) if tag.startswith(_CORE) else None:
            case "str" | "value":
                node.value = event.value
            case "merge":
                node.value = event.value
                self.merges.add(id(node))
            case "null":
                pass
            case "bool" | "int" | "float" | "timestamp" | "binary" as name:
                node.value = self._construct(name, tag, event, node)
            case _:
                self._reject_tag(event.tag, node)
                node.value = event.value
        if isinstance(node.value, str) and (match := _UNSTORABLE.search(node.value)):
            node.error(
                self.report,
                f"The text contains the character U+{ord(match[0]):04X}, which cannot be stored.",
                "Remove it.",
            )
        return node

    def _construct(self, name: str, tag: str, event: Any, node: Node) -> Any:
        if name in ("int", "float") and len(event.value) > MAX_NUMBER_CHARACTERS:
            node.error(
                self.report,
                f"The number “{event.value[:20]}…” has {len(event.value):,} characters; "
                f"at most {MAX_NUMBER_CHARACTERS:,} are read.",
                "Shorten it, or put it in quotes if it is text.",
            )
            return event.value
        try:
            scalar = yaml.ScalarNode(tag, event.value)
            return encode_scalar(getattr(self.constructor, f"construct_yaml_{name}")(scalar))
        except (ValueError, OverflowError, KeyError, yaml.YAMLError):
            node.error(
                self.report,
                f"“{event.value[:80]}” looks like a {name} and is none.",
                "Correct it, or put it in quotes if it is text.",
            )
            return event.value

    def _check_tag(self, event: Any, allowed: tuple[str, ...]) -> None:
        if event.tag not in (None, "!", *(_CORE + name for name in allowed)):
            line, column = _position(event)
            self._reject_tag(event.tag, Node("scalar", None, line, column))

    def _reject_tag(self, tag: str, node: Node) -> None:
        shown = tag.replace(_CORE, "!!", 1)
        node.error(self.report, f"The tag “{shown}” is not read.", "Remove the tag and write plain values.")

    def _unique_pairs(self, pairs: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
        """Each key once; merged keys (``<<``) come first, as in other YAML readers."""
        merged: list[tuple[Node, Node]] = []
        own: list[tuple[Node, Node]] = []
        seen: dict[Any, Node] = {}
        for key, value in pairs:
            if id(key) in self.merges:
                merged += self._merged(value)
                continue
            if key.kind != "scalar":
                key.error(self.report, "A key cannot be a list or a mapping.", "Use a word as the key.")
                continue
            if (first := seen.get(_key_identity(key))) is not None:
                key.error(
                    self.report,
                    f"The key “{key.value}” appears twice, first in line {first.line}.",
                    "Remove one of the two; only one can be stored.",
                )
                continue
            seen[_key_identity(key)] = key
            own.append((key, value))
        if not merged:
            return own
        whole = {_key_identity(key): (key, value) for key, value in merged}
        whole |= {_key_identity(key): (key, value) for key, value in own}
        return list(whole.values())

    def _merged(self, value: Node) -> list[tuple[Node, Node]]:
        sources = value.items if value.kind == "sequence" else [value]
        if any(source.kind != "mapping" for source in sources):
            value.error(self.report, "“<<” takes over a mapping, and this is none.", "Write the keys out.")
            return []
        return [pair for source in reversed(sources) for pair in source.pairs]

    def _fail(self, event: Any, message: str, fix: str) -> None:
        line, column = _position(event)
        self.report.error(message, fix, line=line, column=column)
        raise YamlLimitError


def _position(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _key_identity(key: Node) -> Any:
    """Equal for keys that Python considers equal, such as 1, 1.0 and true."""
    return repr(key.value) if isinstance(key.value, str | dict | list) else key.value
