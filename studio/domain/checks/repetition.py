"""Rows that say what another row says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from studio.domain.text.prose import is_negative
from studio.domain.text.words import content_words

FEWEST = 2
"""Words two sentences have to share at least, before the same words in another order are the same."""
DIRECTED = re.compile(
    r"\b(?:before|after|than|from|above|below|first|last|left|right|under|over|older|newer|more|less|until|since"
    r"|ahead|behind|whose|sends?|gives?|owes?|pays?|tells?|asks?)\b",
    re.IGNORECASE,
)
"""With these the order of the others says who and whom."""


def find_repeats(texts: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """Place of each text that repeats an earlier one, that one's place, both 1-based, and whether letter for letter."""
    letters: dict[str, int] = {}
    meanings: dict[tuple[frozenset[str], bool], int] = {}
    for place, text in enumerate(texts, 1):
        plain = " ".join(text.split()).casefold().rstrip(" .;,")
        if not plain:
            continue
        first = letters.setdefault(plain, place)
        if first != place:
            yield place, first, True
            continue
        keys = frozenset(word.key for word in content_words(text[:2_000]))
        if len(keys) < FEWEST or DIRECTED.search(text):
            continue
        first = meanings.setdefault((keys, is_negative(text[:2_000])), place)
        if first != place:
            yield place, first, False
