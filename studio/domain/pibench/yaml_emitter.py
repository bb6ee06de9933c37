"""Writes ordinary documents exactly as PyYAML does, some fifty times faster: PyYAML looks at every character in turn,
and libyaml, which is quick (``yaml.CSafeDumper``), cannot indent lists below a key as published personas have them.

Ordinary: mappings with text keys, lists, texts of printable characters, whole numbers, booleans and null. All else is
left to PyYAML (``yaml_writer``).
"""

from __future__ import annotations

import re
from functools import lru_cache

import yaml

from studio.domain.pibench.encoding import TAG, Encoded

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
        return _text(value, indent)
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


def _text(value: str, indent: int) -> str:
    if not ((value.isascii() and value.isprintable()) or _ORDINARY.fullmatch(value)):
        raise NotOrdinaryError
    if "\n" in value:
        return _block(value, indent)
    if value and value[0] in _MAY_BE_A_NUMBER and " " not in value:
        raise NotOrdinaryError
    return value if _is_plain(value) else "'" + value.replace("'", "''") + "'"


@lru_cache(1_000)
def _key(key: str) -> str:
    return _text(key, 0)


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
