"""How apps search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

Item = TypeVar("Item")
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=64)
def _words(query: str) -> list[str]:
    return _WORD.findall(query.lower())


def matches(query: str, *texts: str) -> bool:
    """Whether every word of ``query`` begins a word of ``texts``; an empty query matches everything."""
    wanted = _words(query)
    if not wanted:
        return True
    text = " ".join(texts).lower()
    if not all(word in text for word in wanted):
        return False
    words = _WORD.findall(text)
    return all(any(word.startswith(part) for word in words) for part in wanted)


def rank(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """The items that match, those first whose first text holds the query as it stands; else in their order."""
    if not query.strip():
        return list(items)
    found = [item for item in items if matches(query, *texts(item))]
    lowered = query.strip().lower()
    return sorted(found, key=lambda item: lowered not in texts(item)[0].lower())
