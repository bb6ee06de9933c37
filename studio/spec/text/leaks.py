"""Whether a text gives a demand away, wholly or in part. The borders were measured (``make bench-checks``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from studio.spec.text.clauses import Span
from studio.spec.text.coverage import Coverage, coverage, is_aside, negative, prose
from studio.spec.text.words import content

LONGEST = 40_000
"""Characters of a text that are looked at; judges see no more of a file either."""
WHOLE = 0.62
LEAST_NEAR = 0.6
"""However well the words hang together, this share of them has to be said."""
PART = 0.38
CLAUSE = 0.6
CLAUSE_WEIGHT = 2.0
SAID_WEIGHT = 1.1
"""A little more than one full word has to be shared: less proves nothing."""
SURELY = 0.75
"""Below this, two words of full weight that are nowhere said are something hidden."""
QUOTED = 0.1
"""What it adds if a part that the demand names in quotation marks is named in the text."""
UNSAID = 0.5
"""A clause of which less is said keeps something hidden."""
LINKED_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Leak:
    """What a text gives away of a demand."""

    degree: Literal["wholly", "partly"]
    words: str
    """The part of the demand that is given away, verbatim."""
    place: str
    """Where, verbatim from the text."""
    score: float


def topic_of(demands: Iterable[str]) -> frozenset[str]:
    """What at least three demands of a task speak of goes without saying there."""
    counts = Counter(key for demand in demands for key in {word.key for word in content(demand)})
    return frozenset(key for key, count in counts.items() if count >= 3)


def find_leak(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Leak | None:
    """The degree to which ``text`` says what ``demand`` asks for; None: not to speak of."""
    said = coverage(demand[:2_000], prose(text[:LONGEST]), topic)
    if not said.clauses:
        return None
    score = said.near + LINKED_SHARE * said.linked + QUOTED * bool(said.shared_quotes)
    best = max(said.clauses, key=lambda clause: (clause.said >= CLAUSE) * clause.weight * clause.said)
    if _denied(best.span, best.place, said):
        score -= 0.3
    if said.near * said.weight < SAID_WEIGHT:
        return None
    hidden = any(clause.said < UNSAID and not is_aside(clause.span.text) for clause in said.clauses)
    hidden = hidden or (said.near < SURELY and _unsaid(said) > 1)
    if score >= WHOLE and said.near >= LEAST_NEAR and not said.missing_facts and not hidden:
        return Leak("wholly", demand.strip(), best.place.text, score)
    told = best.said >= CLAUSE and best.weight >= CLAUSE_WEIGHT and not _denied(best.span, best.place, said)
    if score >= PART or told:
        return Leak("partly", best.span.text, best.place.text, score)
    return None


def _unsaid(said: Coverage) -> int:
    """Words of full weight that the text has nowhere, but for those of mere contrasts."""
    main = [clause.span for clause in said.clauses if not is_aside(clause.span.text)]
    return sum(word.weight >= 1 and any(span.start <= word.start < span.end for span in main) for word in said.missing)


def _denied(clause: Span, place: Span, said: Coverage) -> bool:
    """The one forbids what the other one asks for: shared words, opposite demands."""
    return negative(clause.text) and not negative(place.text) and any(word.weight >= 1 for word in said.missing)
