"""Writes documents as YAML that reads back the same, with long texts as blocks where possible.

Ordinary ones (mappings with text keys, lists, texts of printable characters, whole numbers, booleans and null) are
written here exactly as PyYAML does, some fifty times faster: PyYAML looks at every character in turn, and libyaml,
which is quick (``yaml.CSafeDumper``), cannot indent lists below a key as published personas have them.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import lru_cache
from typing import Any

import yaml

from studio.domain.base import is_same
from studio.domain.pibench.encoding import TAG, Encoded, decode
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.problems import Report

_NUMBER_ELSEWHERE = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|0o[0-7]+|0x[0-9a-fA-F]+")
"""Numbers in YAML 1.2 that are text in PyYAML, or the other way round."""
_ORDINARY = re.compile("[\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_INDICATORS = frozenset(" #,[]{}&*!|>'\"%@`")
"""Begin something other than a plain text."""
_WORDS = re.compile("[A-Za-z_/][^ ]* ")
"""Begins a text that is never read as a number, a date, a boolean or null."""
_MAY_BE_A_NUMBER = "+-.0123456789"
_KEY_LENGTH = 100
"""Longer keys are written in another style."""
_TEXT = "tag:yaml.org,2002:str"
_resolver = yaml.resolver.Resolver()


def dump_yaml(document: Encoded) -> bytes:
    """YAML in UTF-8. Raises ValueError if it would not read back the same, which would be a defect here."""
    with suppress(NotOrdinaryError):
        return emit_yaml(document).encode()
    value = decode(document, make_set=_OrderedSet.fromkeys)
    for dumper in (_Dumper, _PlainDumper):
        data = yaml.dump(
            value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=math.inf, default_flow_style=False
        ).encode()
        report = Report("")
        node = parse_yaml(data, report)
        if node is not None and not report.errors and is_same(node.value, document):
            return data
    raise ValueError("this document cannot be written as YAML")


class _OrderedSet(dict[Any, None]):
    """An ordered set, so that output is deterministic."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


class _PlainDumper(_Dumper):
    """Every text on one line, quoted if necessary."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if _can_be_block(value):
        style = "|"
    elif _NUMBER_ELSEWHERE.fullmatch(value):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _plain_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"')


def _can_be_block(value: str) -> bool:
    """A block preserves a text only without unusual line breaks and without white space at the ends of lines."""
    if "\n" not in value.rstrip("\n") and not value.endswith("\n"):
        return False
    if not value.strip() or value[0] in " \n\t" or re.search("[\r\x85\u2028\u2029\ufeff]", value):
        return False
    return not any(line != line.rstrip() for line in value.split("\n"))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_OrderedSet, lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:set", value))
_PlainDumper.add_representer(_OrderedSet, _Dumper.yaml_representers[_OrderedSet])
_PlainDumper.add_representer(str, _plain_text)


class NotOrdinaryError(Exception):
    """The document has a part that only PyYAML writes."""


def emit_yaml(document: Encoded) -> str:
    """Raises NotOrdinaryError."""
    if not isinstance(document, dict | list) or not document:
        raise NotOrdinaryError
    lines: list[str] = []
    _collection(document, 0, "", lines)
    return "\n".join(lines) + "\n"


def _collection(value: Encoded, indent: int, first: str, lines: list[str]) -> None:
    """``first`` begins the first line in place of its indentation."""
    spaces = " " * indent
    start = first or spaces
    if isinstance(value, list):
        for item in value:
            _entry(f"{start}-", item, indent, f"{start}- ", lines)
            start = spaces
        return
    if TAG in value:
        raise NotOrdinaryError
    for key, item in value.items():
        if not isinstance(key, str) or not key or len(key) > _KEY_LENGTH or "\n" in key:
            raise NotOrdinaryError
        _entry(f"{start}{_key(key)}:", item, indent, "", lines)
        start = spaces


def _entry(head: str, value: Encoded, indent: int, first: str, lines: list[str]) -> None:
    """``first``: how the first line of a collection begins if it stands beside ``head``; empty if it stands below."""
    if isinstance(value, dict | list) and value:
        if not first:
            lines.append(head)
        _collection(value, indent + 2, first, lines)
    else:
        lines.append(f"{head} {_scalar(value, indent + 2)}")


def _scalar(value: Encoded, indent: int) -> str:
    if isinstance(value, str):
        return _emitted(value, indent)
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case dict():
            return "{}"
        case list():
            return "[]"
    raise NotOrdinaryError


def _emitted(value: str, indent: int) -> str:
    if not ((value.isascii() and value.isprintable()) or _ORDINARY.fullmatch(value)):
        raise NotOrdinaryError
    if "\n" in value:
        return _block(value, indent)
    if value and value[0] in _MAY_BE_A_NUMBER and " " not in value:
        raise NotOrdinaryError
    return value if _is_plain(value) else "'" + value.replace("'", "''") + "'"


@lru_cache(1_000)
def _key(key: str) -> str:
    return _emitted(key, 0)


def _is_plain(value: str) -> bool:
    if not value or value[0] in _INDICATORS or ": " in value or " #" in value or value.endswith((" ", ":")):
        return False
    if value.startswith(("---", "...")) or (value[0] in "-?:" and value[1:2] in ("", " ")):
        return False
    if _WORDS.match(value):
        return True
    tag: object = _resolver.resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]  # of the stubs
    return tag == _TEXT


def _block(value: str, indent: int) -> str:
    spaces = " " * indent
    lines = value.split("\n")
    if not value.strip() or value[0] in " \n" or any(line.endswith(" ") for line in lines):
        raise NotOrdinaryError
    mark = "|-"
    if not lines[-1]:
        lines.pop()
        mark = "|" if lines[-1] else "|+"
    return "\n".join([mark, *(spaces + line if line else "" for line in lines)])
