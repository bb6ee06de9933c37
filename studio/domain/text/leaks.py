"""Whether a text gives a demand away, wholly or in part.

The odds are two logistic regressions over ``signs``, fitted to the development labels in tests/data/labels by
``python -m tests.bench.fitting``, which also tries them by leaving out whole tasks and whole personas;
``make bench-checks`` says how good they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from studio.domain.text.clauses import clauses
from studio.domain.text.coverage import Clause, Coverage, coverage
from studio.domain.text.leak_features import LeakFeatures, leak_features, main_place
from studio.domain.text.prose import without_data
from studio.domain.text.word_index import SAID, word_index
from studio.domain.text.words import content_words

LONGEST = 40_000
"""Characters of a text that are looked at; judges see no more of a file either."""
SAID_WEIGHT = 0.6
"""Something of weight has to be shared: less proves nothing."""

LONG = 80
"""Characters of a clause that is quoted from its beginning."""


@dataclass(frozen=True, slots=True)
class Odds:
    """A logistic regression over some of the signs."""

    base: float
    weights: Mapping[str, float]
    likely: float
    """From this chance on it is said. An error takes a higher one: a false alarm costs more trust than a miss, and what
    people write leaks less often than what was written to fit this to."""

    def chance(self, found: LeakFeatures) -> float:
        odds = self.base + sum(weight * getattr(found, name) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-odds))


WHOLLY = Odds(
    -4.10,
    {
        "at_once": 3.81,
        "exact": 2.45,
        "share": -1.15,
        "echo": 4.42,
        "letters": 1.86,
        "chain": -4.27,
        "lead_in": -5.03,
        "gap": -1.01,
        "facts": -2.28,
        "directs": 1.45,
    },
    likely=0.65,
)
AT_ALL = Odds(
    -3.04,
    {"exact": 2.78, "share": 1.61, "echo": 3.14, "letters": 4.84, "facts": 0.71, "directs": 1.38, "length": -1.39},
    likely=0.55,
)


@dataclass(frozen=True, slots=True)
class Leak:
    """What a text gives away of a demand."""

    degree: Literal["wholly", "partly"]
    words: str
    """The part of the demand that is given away, verbatim."""
    place: str
    """Where, verbatim from the text: the clause, or the end of it, that says most."""
    chance: float
    """Of being right about the degree: 0 to 1."""


def topic_of(demands: Iterable[str], title: str = "") -> frozenset[str]:
    """What the title or at least three demands of a task speak of goes without saying there."""
    counts = Counter(key for demand in demands for key in {word.key for word in content_words(demand)})
    return frozenset(key for key, count in counts.items() if count >= 3) | {word.key for word in content_words(title)}


@lru_cache(maxsize=8_000)
def find_leak(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Leak | None:
    """The degree to which ``text`` says what ``demand`` asks for; None: not to speak of."""
    demand, text = demand[:2_000], without_data(text[:LONGEST])
    said = coverage(demand, text, topic)
    if not said.clauses or said.together * said.weight < SAID_WEIGHT:
        return None
    found, best = leak_features(demand, text, said), main_place(said)
    if found.denied:
        return None
    wholly = WHOLLY.chance(found)
    if wholly >= WHOLLY.likely:
        return Leak("wholly", demand.strip(), _telling(demand, said, best), wholly)
    at_all = max(AT_ALL.chance(found), wholly)
    return Leak("partly", best.span.text, _telling(demand, said, best), at_all) if at_all >= AT_ALL.likely else None


def _telling(demand: str, said: Coverage, best: Clause) -> str:
    """The clause of the place that says most of the demand, from its first word on that does if it is a long one."""
    inside = [word for word in content_words(demand) if best.span.start <= word.start < best.span.end]

    def share(part: str) -> float:
        there = word_index(part)
        return sum(said.weights[word.start] * there.has(word.key) for word in inside)

    telling = max((part.text for part in clauses(best.place.text)), key=share, default=best.place.text)
    if len(telling) <= LONG:
        return telling
    mine = word_index(best.span.text)
    first = next((word.start for word in content_words(telling) if mine.has(word.key) >= SAID), 0)
    return telling[first:] if len(telling) - first > LONG // 2 else telling
