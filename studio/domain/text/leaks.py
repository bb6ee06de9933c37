"""Detects whether a text gives a demand away, wholly or partly, by two logistic regressions over ``leak_features``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from studio.domain.text.clauses import clauses
from studio.domain.text.coverage import Coverage, coverage
from studio.domain.text.leak_features import LeakFeatures, best_said_clause, leak_features
from studio.domain.text.prose import without_data
from studio.domain.text.word_index import vocabulary, word_index
from studio.domain.text.words import content_words

LONGEST = 40_000
"""Maximum characters read of a text; the same limit applies to files shown to judges."""
SAID_WEIGHT = 0.6
"""Minimum weight of shared words; less proves nothing."""

LONG = 100
"""Characters of a sentence that is quoted whole."""
MOST = 0.9
"""A clause with this share of its sentence's shared words says it alone."""


_CONJUNCTION = re.compile(r"^(?:(?:and|but|or|so|then)\s+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression over some of the features."""

    base: float
    weights: Mapping[str, float]
    threshold: float
    """Minimum probability to report. Higher for errors: a false alarm costs more trust than a miss, and real texts leak
    less often than the labelled ones."""

    def chance(self, features: LeakFeatures) -> float:
        logit = self.base + sum(weight * getattr(features, name) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-logit))


WHOLLY = LogisticModel(
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
    threshold=0.65,
)
AT_ALL = LogisticModel(
    -3.04,
    {"exact": 2.78, "share": 1.61, "echo": 3.14, "letters": 4.84, "facts": 0.71, "directs": 1.38, "length": -1.39},
    threshold=0.55,
)


@dataclass(frozen=True, slots=True)
class Leak:
    degree: Literal["wholly", "partly"]
    passage: str
    """The part of the demand that is given away, verbatim."""
    source: str
    """The sentence of the text that says most, or the clause of it that does, verbatim."""
    chance: float
    """Probability of the degree: 0 to 1."""


def topic_of(demands: Iterable[str], title: str = "") -> frozenset[str]:
    counts = Counter(chain.from_iterable(vocabulary(demand).keys for demand in demands))
    return vocabulary(title).keys.union([key for key, count in counts.items() if count >= 3])


def find_leak(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Leak | None:
    """The degree to which ``text`` says what ``demand`` asks for; None if it does not."""
    return _find_leak(demand, text, topic & vocabulary(demand).keys)  # so that another title changes nothing


@lru_cache(4_096)
def _find_leak(demand: str, text: str, topic: frozenset[str]) -> Leak | None:
    demand, text = demand[:2_000], without_data(text[:LONGEST])
    covered = coverage(demand, text, topic)
    if not covered.clauses or covered.together * covered.weight < SAID_WEIGHT:
        return None
    features, main_clause = leak_features(demand, text, covered), best_said_clause(covered)
    if features.denied:
        return None
    wholly = WHOLLY.chance(features)
    if wholly >= WHOLLY.threshold:
        return Leak("wholly", demand.strip(), _most_telling_part(demand, text, covered), wholly)
    at_all = max(AT_ALL.chance(features), wholly)
    return (
        Leak("partly", main_clause.span.text, _most_telling_part(demand, text, covered), at_all)
        if at_all >= AT_ALL.threshold
        else None
    )


def _most_telling_part(demand: str, text: str, covered: Coverage) -> str:
    """Of the sentence that has most of the demand, the clause that has nearly as much, or else the whole. Where that is
    long, it begins with the first words that both have. The words themselves count more than related ones."""
    demand_words, index = content_words(demand), word_index(text)
    shares: dict[int, float] = {}
    for word in demand_words:
        for number, similarity in index.of(word.key).items():
            shares[number] = shares.get(number, 0.0) + covered.weights[word.start] * similarity**2
    if not shares:
        return ""
    sentence = index.sentences[max(shares, key=lambda number: (shares[number], -number))].text

    def share(part: str) -> float:
        has = vocabulary(part).has
        return sum(covered.weights[word.start] * has(word.key) ** 2 for word in demand_words)

    telling = _CONJUNCTION.sub("", max((part.text for part in clauses(sentence)), key=share, default=sentence))
    if len(sentence) <= LONG and share(telling) < MOST * share(sentence):
        return sentence
    if len(telling) <= LONG:
        return telling
    keys = {word.key for word in demand_words}
    shared = [word.start for word in content_words(telling) if word.key in keys]
    start = shared[0] if shared and shared[0] > LONG // 2 else 0
    return f"… {telling[start:]}" if start else telling
