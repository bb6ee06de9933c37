"""Rows that repeat an earlier row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from studio.domain.text.prose import is_negative
from studio.domain.text.word_index import vocabulary

MIN_WORDS = 2
"""Minimum number of words for sentences with the same words in another order to count as the same."""
ORDER_MATTERS = re.compile(
    r"\b(?:before|after|than|from|above|below|first|last|left|right|under|over|older|newer|more|less|until|since"
    r"|ahead|behind|whose|sends?|gives?|owes?|pays?|tells?|asks?)\b",
    re.IGNORECASE,
)
"""With these words, the order of the others changes the meaning."""


def find_repeats(texts: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """For each repetition: its position, that of the first occurrence (both 1-based), and whether the text is
    identical."""
    by_text: dict[str, int] = {}
    by_keys: dict[frozenset[str], list[tuple[int, str]]] = {}
    for position, text in enumerate(texts, 1):
        normalized = " ".join(text.split()).casefold().rstrip(" .;,")
        if not normalized:
            continue
        first = by_text.setdefault(normalized, position)
        if first != position:
            yield position, first, True
            continue
        keys = vocabulary(text[:2_000]).keys
        if len(keys) < MIN_WORDS:
            continue
        earlier = by_keys.setdefault(keys, [])
        if earlier and (alike := next((number for number, other in earlier if _mean_the_same(other, text)), None)):
            yield position, alike, False
        earlier.append((position, text))


def _mean_the_same(text: str, other: str) -> bool:
    """Of texts with the same words."""
    if ORDER_MATTERS.search(text) or ORDER_MATTERS.search(other):
        return False
    return is_negative(text[:2_000]) == is_negative(other[:2_000])
