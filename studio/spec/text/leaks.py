"""Whether a text gives a demand away, wholly or in part.

The odds are two logistic regressions over what ``coverage`` measures, fitted to the development labels in
tests/data/labels and tried by cross-validation over whole tasks; ``make bench-checks`` says how good they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from studio.spec.text.clauses import Span
from studio.spec.text.coverage import Clause, Coverage, coverage, is_aside
from studio.spec.text.prose import negative, prose
from studio.spec.text.words import content

LONGEST = 40_000
"""Characters of a text that are looked at; judges see no more of a file either."""
LIKELY = 0.55
"""From this chance on it is said: a little more than even, since a false alarm costs more trust than a miss."""
SAID_WEIGHT = 0.9
"""About one full word has to be shared: less proves nothing."""
CLAUSE = 0.6


@dataclass(frozen=True, slots=True)
class Leak:
    """What a text gives away of a demand."""

    degree: Literal["wholly", "partly"]
    words: str
    """The part of the demand that is given away, verbatim."""
    place: str
    """Where, verbatim from the text."""
    chance: float
    """Of being right about the degree: 0 to 1."""


def topic_of(demands: Iterable[str], title: str = "") -> frozenset[str]:
    """What the title or at least three demands of a task speak of goes without saying there."""
    counts = Counter(key for demand in demands for key in {word.key for word in content(demand)})
    return frozenset(key for key, count in counts.items() if count >= 3) | {word.key for word in content(title)}


def find_leak(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Leak | None:
    """The degree to which ``text`` says what ``demand`` asks for; None: not to speak of."""
    text = prose(text[:LONGEST])
    said = coverage(demand[:2_000], text, topic)
    if not said.clauses or said.together * said.weight < SAID_WEIGHT:
        return None
    best = max(said.clauses, key=lambda clause: (clause.said >= CLAUSE) * clause.weight * clause.said)
    wholly = _wholly(said)
    if wholly >= LIKELY and not _denied(best.span, best.place, said):
        return Leak("wholly", demand.strip(), best.place.text, wholly)
    partly = max(_at_all(said, len(text)), wholly)
    return Leak("partly", best.span.text, best.place.text, partly) if partly >= LIKELY else None


def _wholly(said: Coverage) -> float:
    """The clause of which least is said tells most: a demand is hidden as long as one part of it is."""
    least = min(clause.said for clause in _main(said))
    return _chance(
        -2.79 + 2.03 * said.near + 1.96 * said.at_once + 2.44 * said.together + 2.17 * least
        - 1.42 * min(len(said.missing_facts), 2) - 1.41 * math.log1p(said.weight)
    )  # fmt: skip


def _at_all(said: Coverage, length: int) -> float:
    """The longer the text, the likelier that it has the words by accident."""
    return _chance(
        -3.36 + 2.42 * said.near + 3.47 * said.at_once + 3.20 * said.together + 2.88 * said.linked
        + 0.34 * min(said.unsaid, 4) - 1.00 * min(math.log1p(length / 300), 3)
    )  # fmt: skip


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def _main(said: Coverage) -> list[Clause]:
    """Without clauses that only say what is not meant, or what for."""
    return [clause for clause in said.clauses if not is_aside(clause.span.text)] or list(said.clauses)


def _denied(clause: Span, place: Span, said: Coverage) -> bool:
    """The one forbids what the other one asks for: shared words, opposite demands."""
    return negative(clause.text) and not negative(place.text) and any(word.weight >= 1 for word in said.missing)
