"""How apps search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
_WORD = re.compile(r"\w+")


def matches(query: str, *texts: str) -> bool:
    """Whether every word of ``query`` begins a word of ``texts``; an empty query matches everything."""
    return _holds(_WORD.findall(query.lower()), texts)


def search(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """The items that match, in their order."""
    wanted = _WORD.findall(query.lower())
    return [item for item in items if _holds(wanted, texts(item))]


def rank(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """Likewise, but those first whose first text holds the query as it stands."""
    lowered = query.strip().lower()
    return sorted(search(query, items, texts), key=lambda item: lowered not in texts(item)[0].lower())


def _holds(wanted: list[str], texts: tuple[str, ...]) -> bool:
    text = " ".join(texts).lower()
    if not all(word in text for word in wanted):
        return False
    words = " " + " ".join(_WORD.findall(text))
    return all(f" {word}" in words for word in wanted)
