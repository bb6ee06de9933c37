"""How apps search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CodeType
from typing import Any, TypeVar

Item = TypeVar("Item")
_WORD = re.compile(r"\w+")
REMEMBERED = 200_000
"""Records whose text is remembered."""


@lru_cache(maxsize=64)
def _words(query: str) -> list[str]:
    return _WORD.findall(query.lower())


class _Text:
    """What a record is searched by."""

    __slots__ = ("first", "record", "text", "words")

    def __init__(self, record: Any, texts: tuple[str, ...]) -> None:
        self.record = record
        self.first = texts[0].lower()
        self.text = " ".join(texts).lower() if len(texts) > 1 else self.first
        self.words = ""
        """Its words, each after a space; made when a query occurs in the text."""

    def matches(self, wanted: list[str]) -> bool:
        for word in wanted:
            if word not in self.text:
                return False
        if not self.words:
            self.words = " " + " ".join(_WORD.findall(self.text))
        return all(f" {word}" in self.words for word in wanted)


_texts: dict[CodeType, dict[int, _Text]] = {}


def matches(query: str, *texts: str) -> bool:
    """Whether every word of ``query`` begins a word of ``texts``; an empty query matches everything."""
    wanted = _words(query)
    return not wanted or _Text(None, texts).matches(wanted)


def search(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """The items that match, in their order."""
    return [text.record for text in _search(query, items, texts)] if query.strip() else list(items)


def rank(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """The items that match, those first whose first text holds the query as it stands; else in their order."""
    if not query.strip():
        return list(items)
    found = _search(query, items, texts)
    lowered = query.strip().lower()
    first = [text.record for text in found if lowered in text.first]
    if len(first) < len(found):
        first += [text.record for text in found if lowered not in text.first]
    return first


def _search(query: str, items: Iterable[Any], texts: Callable[[Any], tuple[str, ...]]) -> list[_Text]:
    wanted = _words(query)
    known = texts_of(items, texts)
    if not wanted:
        return known
    rarest = max(wanted, key=len)
    return [text for text in known if rarest in text.text and text.matches(wanted)]


def texts_of(items: Iterable[Any], texts: Callable[[Any], tuple[str, ...]]) -> list[_Text]:
    """Remembered if ``texts`` looks at nothing but the record, which never changes."""
    if texts.__closure__ is not None:
        return [_Text(item, texts(item)) for item in items]
    known = _texts.setdefault(texts.__code__, {})
    if len(known) > REMEMBERED:
        known.clear()
    out = []
    for item in items:
        text = known.get(id(item))
        if text is None or text.record is not item:
            text = known[id(item)] = _Text(item, texts(item))
        out.append(text)
    return out
