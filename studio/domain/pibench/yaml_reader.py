"""Reads YAML from untrusted bytes into nodes with lines and columns, within limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

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
_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FIXES = [
    (r"cannot start any token|found character '\\t'", ("Indent with spaces instead of tabs, and put text that starts "
     "with a special character (@ ` % &) in quotes.")),
    ("mapping values are not allowed", "Put the text in quotes, or write it as a block (|): it holds “: ”."),
    ("could not find expected ':'", "Add the colon after the key, or indent the line under the text it belongs to."),
    ("expected <block end>", "Check the indentation here, and that the quotes above are closed."),
    ("expected <document start>", "Check the indentation of this line, and that the quotes above are closed."),
    ("expected ',' or", "Close the bracket, or put a comma between the entries."),
    ("unexpected end of stream", "Close the quote that was opened here."),
    ("undefined alias", "Put the text in quotes: a word that starts with * is read as a reference."),
    ("escape", "Write the character itself, or use single quotes: a backslash in double quotes starts an escape."),
]  # fmt: skip
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CORE = "tag:yaml.org,2002:"
_TEXT = f"{_CORE}str"
_RESOLVER: Any = yaml.resolver.Resolver()
_STARTS_OF_OTHERS = frozenset(_RESOLVER.yaml_implicit_resolvers)
"""First characters of plain scalars that may be something else than text; empty: of an empty one."""
_SHORT = 20
"""Characters of a plain scalar that is likely to come again, such as a key."""


def parse_yaml(data: bytes, report: Report) -> Node | None:
    """The document in ``data``; None if it cannot be read at all.

    Damaged documents are returned, too, so that errors in their other parts are also reported. Reads the parser's
    events instead of ``yaml.load``: nesting never becomes recursion, and expanded aliases are counted before they
    are expanded.
    """
    text = _decode(data, report)
    if text is None:
        return None
    if len(text) > MAX_CHARACTERS:
        message = f"The file has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read."
        report.error(message, "Move long texts into files of the task's folder.")
        return None
    loader = yaml.SafeLoader if "\ufeff" in text else _FAST
    builder = NodeBuilder(report)
    try:
        builder.feed(yaml.parse(text, Loader=loader))
    except YamlLimitError:
        return None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "not YAML"
        known = (fix for pattern, fix in _FIXES if re.search(pattern, what))
        fix = next(known, "Check the quotes and the indentation around this line.")
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        report.error(f"Not valid YAML: {what}.", fix, line=line, column=column)
        return None
    except (yaml.YAMLError, RecursionError) as error:
        report.error(f"Not valid YAML: {error}.", "Check the quotes and the indentation.")
        return None
    if builder.root is None:
        report.error("The file is empty.", "Write the document, or leave the file out.", line=1, column=1)
    return builder.root


def _decode(data: bytes, report: Report) -> str | None:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        _error_after(report, before, f"Byte 0x{data[error.start]:02x} is not UTF-8.", "Save the file as UTF-8.")
        return None
    if match := _FORBIDDEN.search(text):
        message = f"The character U+{ord(match[0]):04X} is not allowed in YAML."
        _error_after(report, text[: match.start()], message, "Remove it; it is invisible in most editors.")
        return None
    return text


def _error_after(report: Report, before: str, message: str, fix: str) -> None:
    report.error(message, fix, line=before.count("\n") + 1, column=len(before) - (before.rfind("\n") + 1) + 1)


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
    merges: dict[int, Node] = field(default_factory=dict)
    """The ``<<`` keys by their ids, which are theirs alone as long as they are kept."""
    aliases: int = 0
    documents: int = 0
    constructor: Any = field(default_factory=yaml.constructor.SafeConstructor)

    def feed(self, events: Iterable[Any]) -> None:
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:  # by far the most
                self._add(self._scalar(event), event.anchor)
            elif kind is yaml.MappingStartEvent:
                self._check_tag(event, ("map", "set"))
                self._open("mapping", event)
            elif kind is yaml.SequenceStartEvent:
                self._check_tag(event, ("seq",))
                self._open("sequence", event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close()
            elif kind is yaml.AliasEvent:
                self._add(self._alias(event), None)
            elif kind is yaml.DocumentStartEvent:
                self._start_document(event)

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
            values = [child.value for child in done.children]
            node = Node("sequence", values, self.report, done.line, done.column, items=done.children)
        else:
            pairs = self._unique_pairs(list(zip(done.children[::2], done.children[1::2], strict=True)))
            node = mapping_node(pairs, self.report, done.line, done.column)
            if done.is_set:
                values = encode_set([key.value for key, _ in pairs])
                node = Node("scalar", values, self.report, done.line, done.column)
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
            fix = f"Keep it below {MAX_NODES:,} values and {MAX_CHARACTERS:,} characters, repeated parts counted."
            node.error("The document expands beyond the limits.", fix)
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
        fix = "Put the text in quotes: a word that starts with * is read as a reference."
        self._fail(event, f"“*{event.anchor}” refers to nothing above.", fix)

    def _scalar(self, event: Any) -> Node:
        value, tag, mark = event.value, event.tag, event.start_mark
        node = Node("scalar", value, self.report, mark.line + 1, mark.column + 1, (), (), 1, len(value))
        if tag is None or tag == "!":
            tag = _tag_of(value, event.implicit)
        if tag is not _TEXT and tag != _TEXT:
            self._interpret(node, tag, event)
        if event.style == '"' and isinstance(node.value, str) and (match := _UNSTORABLE.search(node.value)):
            message = f"The text contains the character U+{ord(match[0]):04X}, which cannot be stored."
            node.error(message, "Remove it.")  # written as an escape; without escapes the reader has refused it
        return node

    def _interpret(self, node: Node, tag: str, event: Any) -> None:
        """Set the value of a scalar that need not be text."""
        match tag.removeprefix(_CORE) if tag.startswith(_CORE) else None:
            case "value":
                pass
            case "merge":
                self.merges[id(node)] = node
            case "null":
                node.value = None
            case "bool" | "int" | "float" | "timestamp" | "binary" as name:
                node.value = self._construct(name, tag, event, node)
            case _:
                self._reject_tag(event.tag, node)

    def _construct(self, name: str, tag: str, event: Any, node: Node) -> Any:
        if name in ("int", "float") and len(event.value) > MAX_NUMBER_CHARACTERS:
            most = f"at most {MAX_NUMBER_CHARACTERS:,} are read"
            message = f"The number “{event.value[:20]}…” has {len(event.value):,} characters; {most}."
            node.error(message, "Shorten it, or put it in quotes if it is text.")
            return event.value
        try:
            scalar = yaml.ScalarNode(tag, event.value)
            return encode_scalar(getattr(self.constructor, f"construct_yaml_{name}")(scalar))
        except (ValueError, OverflowError, KeyError, yaml.YAMLError):
            message = f"“{event.value[:80]}” looks like a {name} and is none."
            node.error(message, "Correct it, or put it in quotes if it is text.")
            return event.value

    def _check_tag(self, event: Any, allowed: tuple[str, ...]) -> None:
        if event.tag is not None and event.tag not in ("!", *(_CORE + name for name in allowed)):
            self._reject_tag(event.tag, Node("scalar", None, self.report, *_position(event)))

    def _reject_tag(self, tag: str, node: Node) -> None:
        shown = tag.replace(_CORE, "!!", 1)
        node.error(f"The tag “{shown}” is not read.", "Remove the tag and write plain values.")

    def _unique_pairs(self, pairs: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
        """Each key once; merged keys (``<<``) come first, as in other YAML readers."""
        merged: list[tuple[Node, Node]] = []
        own: list[tuple[Node, Node]] = []
        seen: dict[Any, Node] = {}
        merges = self.merges
        for key, value in pairs:
            if id(key) in merges:
                merged += self._merged(value)
                continue
            if key.kind != "scalar":
                key.error("A key cannot be a list or a mapping.", "Use a word as the key.")
                continue
            identity = _key_identity(key)
            if (first := seen.get(identity)) is not None:
                message = f"The key “{key.value}” appears twice, first in line {first.line}."
                key.error(message, "Remove one of the two; only one can be stored.")
                continue
            seen[identity] = key
            own.append((key, value))
        if not merged:
            return own
        whole = {_key_identity(key): (key, value) for key, value in merged}
        whole |= {_key_identity(key): (key, value) for key, value in own}
        return list(whole.values())

    def _merged(self, value: Node) -> list[tuple[Node, Node]]:
        sources = value.items if value.kind == "sequence" else [value]
        if any(source.kind != "mapping" for source in sources):
            value.error("“<<” takes over a mapping, and this is none.", "Write the keys out.")
            return []
        return [pair for source in reversed(sources) for pair in source.pairs]

    def _fail(self, event: Any, message: str, fix: str) -> NoReturn:
        line, column = _position(event)
        self.report.error(message, fix, line=line, column=column)
        raise YamlLimitError


def _position(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _key_identity(key: Node) -> Any:
    """Equal for keys that Python considers equal, such as 1, 1.0 and true; for others unequal."""
    value = key.value
    if type(value) is str:
        return value
    return (repr(value),) if isinstance(value, dict | list) else value


def _tag_of(value: str, implicit: tuple[bool, bool]) -> str:
    """Of a scalar without a tag of its own. ``implicit``: whether it is plain, and whether it is quoted."""
    if not implicit[0] or value[:1] not in _STARTS_OF_OTHERS:
        return _TEXT
    return _tag_of_short(value) if len(value) <= _SHORT else _tag_of_plain(value)


def _tag_of_plain(value: str) -> str:
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, value, (True, False))
    return tag


@lru_cache(10_000)
def _tag_of_short(value: str) -> str:
    return _tag_of_plain(value)
