"""A persona's web pages, ranked by the words they share with a query: alike wherever a session is played."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evaluation.workspaces.manifests import Read
from studio.domain.persona import PersonaSpec
from studio.domain.text.stems import stem
from studio.domain.text.word_classes import FUNCTION
from studio.domain.web_pages import MAX_PAGES, WebPage, WebPageError, read_web_page, same_address

SEARCHED = 200_000
"""Characters of a page that searches look at."""
TITLE = 3
"""Times that a word of the title counts."""
K1, B = 1.2, 0.75
"""Of BM25 (Robertson and Zaragoza 2009): how soon repeated words stop counting, and how much a page's length does."""
LONG = 160
"""Characters of a piece of a snippet, about."""
MAX_PIECES = 2
MAX_PLACES = 400
"""Occurrences that a snippet is chosen from."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ranked: dict[str, _Ranked | None] = {}
"""By sha256 of the file; None: it holds no page."""
MOST_RANKED = 5_000


class Corpus:
    """The pages that one task can find."""

    def __init__(self, persona: PersonaSpec, task_id: str, read: Read) -> None:
        self._files = [file.sha256 for file in persona.web_pages[:MAX_PAGES]]
        self._task_id = task_id
        self._read = read

    def count(self) -> int:
        return len(self._pages)

    def page(self, address: str) -> WebPage | None:
        """Of several with the same address, the first."""
        place = same_address(address)
        return next((each.page for each in self._pages if same_address(each.page.address) == place), None)

    def search(self, query: str, limit: int, offset: int) -> Sequence[tuple[WebPage, str]]:
        """Those with any of the words, best first, with a snippet each."""
        stems = set(_stems(query))
        frequency = Counter(word for each in self._pages for word in stems & each.counts.keys())
        mean = sum(each.length for each in self._pages) / max(len(self._pages), 1)
        scored = [
            (sum(_weight(each, word, frequency[word], len(self._pages), mean) for word in found), each.page)
            for each in self._pages
            if (found := sorted(stems & each.counts.keys()))
        ]
        scored.sort(key=lambda row: -row[0])
        return [(page, snippet_of(page.text, stems)) for _, page in scored[offset : offset + limit]]

    @cached_property
    def _pages(self) -> list[_Ranked]:
        if unknown := [sha for sha in self._files if sha not in _ranked]:
            if len(_ranked) > MOST_RANKED:
                _ranked.clear()
            contents = self._read(unknown)
            _ranked.update({sha: _rank(contents[sha]) for sha in unknown if sha in contents})
        found = [each for sha in self._files if (each := _ranked.get(sha))]
        return [each for each in found if not each.page.tasks or self._task_id in each.page.tasks]


def open_corpus(persona: PersonaSpec, task_id: str, read: Read) -> Corpus | None:
    """None if the persona has no pages, and so no web."""
    return Corpus(persona, task_id, read) if persona.web_pages else None


@dataclass(frozen=True)
class _Ranked:
    """A page with the words it counts."""

    page: WebPage
    counts: Counter[str]
    length: int


def _rank(content: bytes) -> _Ranked | None:
    try:
        page = read_web_page(content)
    except WebPageError:
        return None  # the persona's page says so
    counts = Counter(_stems(page.text[:SEARCHED]) + TITLE * _stems(page.title[:1_000]))
    return _Ranked(page, counts, counts.total())


def _stems(text: str) -> list[str]:
    words = (match[0].lower() for match in _WORD.finditer(text))
    return [stem(word) for word in words if word not in FUNCTION]


def _weight(ranked: _Ranked, word: str, pages_with_it: int, pages: int, mean: float) -> float:
    rarity = math.log(1 + (pages - pages_with_it + 0.5) / (pages_with_it + 0.5))
    count = ranked.counts[word]
    return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * ranked.length / mean))


def snippet_of(text: str, stems: set[str]) -> str:
    """The pieces of ``text`` with most of the different ``stems``, in one line; its beginning if there are none."""
    places: list[tuple[int, str]] = []
    for match in _WORD.finditer(text):
        if (found := stem(match[0].lower())) in stems and len(places) < MAX_PLACES:
            places.append((match.start(), found))
    pieces: list[tuple[int, int]] = []
    while places and len(pieces) < MAX_PIECES:
        near = [{said for at, said in places if start <= at < start + LONG - 30} for start, _ in places]
        best = max(range(len(places)), key=lambda index: (len(near[index]), -index))
        start, end = _whole_words(text, places[best][0] - 30, places[best][0] + LONG - 30)
        pieces.append((start, end))
        places = [(at, said) for at, said in places if not start <= at < end and said not in near[best]]
    return " … ".join(
        " ".join(text[start:end].split()) for start, end in sorted(pieces or [_whole_words(text, 0, LONG)])
    )


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
