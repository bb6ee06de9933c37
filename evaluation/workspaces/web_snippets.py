"""Where a page speaks of what was asked. Pure: PostgreSQL's own headline reads the whole page for it, word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONG = 160
"""Characters of a piece, about."""
MAX_PIECES = 2
MAX_PLACES = 400
"""Occurrences that are looked at."""


def snippet_of(text: str, stems: Sequence[str]) -> str:
    """The pieces of ``text`` with most of the different ``stems``, in one line; its beginning if there are none."""
    places = _places(text, stems)
    pieces: list[tuple[int, int]] = []
    while places and len(pieces) < MAX_PIECES:
        best = max(range(len(places)), key=lambda index: (len(_stems_near(places, index)), -places[index][0]))
        start, end = _whole_words(text, places[best][0] - 30, places[best][0] + LONG - 30)
        pieces.append((start, end))
        said = _stems_near(places, best)
        places = [(at, stem) for at, stem in places if not start <= at < end and stem not in said]
    if not pieces:
        pieces = [_whole_words(text, 0, LONG)]
    return " … ".join(" ".join(text[start:end].split()) for start, end in sorted(pieces))


def _places(text: str, stems: Sequence[str]) -> list[tuple[int, str]]:
    """Where words begin as the stems do; the stemmer turns a last y into i."""
    begins = {stem[:-1] if len(stem) > 3 and stem.endswith("i") else stem: stem for stem in stems if stem}
    if not begins:
        return []
    longest_first = sorted(begins, key=len, reverse=True)
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})", re.IGNORECASE)
    found = []
    for match in words.finditer(text):
        found.append((match.start(), begins.get(match[0].lower(), match[0].lower())))
        if len(found) == MAX_PLACES:
            break
    return found


def _stems_near(places: list[tuple[int, str]], index: int) -> set[str]:
    """Those that a piece beginning here would hold."""
    end = places[index][0] + LONG - 30
    near = set()
    for at, stem in places[index:]:
        if at >= end:
            break
        near.add(stem)
    return near


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The range, moved to where words begin and end."""
    start, end = max(start, 0), min(end, len(text))
    if start:
        space = re.compile(r"\s").search(text, start, min(start + 30, end))
        start = space.end() if space else start
    if end < len(text):
        cut = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = cut if cut > start else end
    return start, end
