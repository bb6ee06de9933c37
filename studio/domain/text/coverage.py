"""How much of what one text demands another text already says, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from studio.domain.text.clauses import Span, clauses, quoted
from studio.domain.text.word_index import SAID, WordIndex, word_index
from studio.domain.text.words import Word, content_words

ABOUT = 0.45
"""Weight of what a demand is about, against what it asks for."""
ASIDE = 0.3
"""Weight of what it contrasts that with, and of examples."""
CLOSELY = 3
"""So many sentences together may say what a demand asks for."""
_LEAD_IN = re.compile(r"\s*(?:In|On|At|For|After|Before|When|Within|Throughout|Where|If|Once|During)\b[^,;:]{3,120},")
_SUBJECT = re.compile(
    r"\s*(?:[^\s,;:]+\s+){1,9}?(?=(?:[a-z]+ly\s+)?(?:must|should|shall|has|have|needs?|is|are|will|can|cannot|may|says?|states?|gives?"
    r"|names?|includes?|contains?|starts?|begins?|ends?|opens?|closes?|shows?|lists?|mentions?|uses?|covers?|explains?"
    r"|identifies|identify|provides?|stays?|keeps?|comes?|goes|describes?|addresses|integrates?|presents?|asks?|makes?"
    r"|avoids?|announces?|introduces?|incorporates?)\b)"
)
_CONTRAST = re.compile(r",?\s*(?:rather than|instead of|without|while|so that|so there|so the)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"\(?(?:such as|e\.g\.|for example|for instance|like)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the demanding text and what is said of it elsewhere."""

    span: Span
    weight: float
    """Of its words together."""
    said: float
    """Share of that weight that the other text has, at its best place: 0 to 1."""
    place: Span
    """That place in the other text."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a text says of a demand."""

    clauses: tuple[Clause, ...]
    near: float
    """Share of the whole demand said, each clause at its best place: 0 to 1."""
    at_once: float
    """Share of it that the best single sentence says."""
    together: float
    """Share of it that the best three sentences say."""
    said: frozenset[int]
    """Where the words stand in the demand that those three have."""
    weights: Mapping[int, float]
    """What each word of the demand counts, by where it stands."""
    missing: tuple[Word, ...]
    """Words of the demand that the text has nowhere."""
    missing_facts: tuple[str, ...]
    """Numbers and quoted words of the demand that the text has nowhere."""

    @property
    def weight(self) -> float:
        return sum(clause.weight for clause in self.clauses)


@lru_cache(maxsize=8_000)
def coverage(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Coverage:
    """``topic`` are keys that go without saying in this task: they count half."""
    own = content_words(demand)
    weights = _weights(demand, own, topic)
    there = word_index(text)
    hits = {word.key: there.of(word.key) for word in own}
    found = []
    for span in clauses(demand):
        inside = [(word, weights[word.start]) for word in own if span.start <= word.start < span.end]
        if weight := sum(each for _, each in inside):
            found.append(_best_place(span, inside, weight, there, text, hits))
    weight = sum(clause.weight for clause in found)
    missing = tuple(word for word in own if max(hits[word.key].values(), default=0.0) < SAID)
    lower = " ".join(text.casefold().split())
    facts = [word.text for word in missing if word.kind == "number"]
    quotes = [" ".join(span.text.casefold().split()).strip(" .,;") for span in quoted(demand)]
    facts += [quote for quote in quotes if quote not in lower]
    at_once, together, said = _together(own, weights, hits)
    return Coverage(
        clauses=tuple(found),
        near=sum(clause.said * clause.weight for clause in found) / weight if weight else 0.0,
        at_once=at_once / weight if weight else 0.0,
        together=together / weight if weight else 0.0,
        said=frozenset(said),
        weights=weights,
        missing=missing,
        missing_facts=tuple(facts),
    )


@lru_cache(maxsize=8_000)
def word_overlap(demand: str, text: str) -> float:
    """Share of a demand's words that the text has somewhere: quick, to leave out what need not be read closely."""
    own, there = content_words(demand), word_index(text)
    weight = sum(word.weight for word in own)
    return sum(word.weight * there.has(word.key) for word in own) / weight if weight else 0.0


def lead_in_end(demand: str, clause: Span) -> int:
    """Where a clause goes on after the circumstances it begins with: “In the summary, …”."""
    lead = _LEAD_IN.match(demand, clause.start, clause.end)
    return lead.end() if lead else clause.start


def request_start(demand: str, clause: Span) -> int:
    """Where a clause begins to say what it asks for, after what it is about."""
    begin = lead_in_end(demand, clause)
    subject = _SUBJECT.match(demand, begin, clause.end)
    return subject.end() if subject else begin


def _weights(demand: str, own: Sequence[Word], topic: frozenset[str]) -> dict[int, float]:
    """By place. What a demand is about, contrasts with or gives as an example counts less than what it asks for."""
    weights = {word.start: word.weight * (0.5 if word.key in topic else 1.0) for word in own}
    for span in clauses(demand):
        aside = request_start(demand, span)
        contrast = _CONTRAST.match(demand, span.start, span.end)
        example = _EXAMPLE.search(demand, span.start, span.end)
        inside = [word for word in own if span.start <= word.start < span.end]
        asked = sum(weights[word.start] for word in inside if word.start >= aside)
        for word in inside:
            if asked >= 1 and word.start < aside:
                weights[word.start] *= ABOUT
            if contrast or (example and word.start >= example.start()):
                weights[word.start] *= ASIDE
    return weights


def _best_place(
    span: Span,
    inside: Sequence[tuple[Word, float]],
    weight: float,
    there: WordIndex,
    text: str,
    hits: Mapping[str, Mapping[int, float]],
) -> Clause:
    """A sentence, or one with the next."""
    best, where = 0.0, Span("", 0, 0)
    touched = {number for word, _ in inside for number in hits[word.key]}
    for number in sorted(touched | {number - 1 for number in touched if number}):
        one, two = 0.0, 0.0
        for word, each in inside:
            here, next_ = hits[word.key].get(number, 0.0), hits[word.key].get(number + 1, 0.0)
            one += each * here
            two += each * max(here, next_)
        if one / weight > best + 0.001:
            best, where = one / weight, there.sentences[number]
        if two / weight > best + 0.001:
            start, end = there.sentences[number].start, there.sentences[number + 1].end
            best, where = two / weight, Span(text[start:end], start, end)
    return Clause(span, weight, min(best, 1.0), where)


def _together(
    own: Sequence[Word], weights: Mapping[int, float], hits: Mapping[str, Mapping[int, float]]
) -> tuple[float, float, set[int]]:
    """Weight that the best sentence says, that the best few say, and the places of the words these have."""
    got = dict.fromkeys((word.start for word in own), 0.0)
    first, total = 0.0, 0.0
    for _ in range(CLOSELY):
        gains: dict[int, float] = {}
        for word in own:
            for number, has in hits[word.key].items():
                if has > got[word.start]:
                    gains[number] = gains.get(number, 0.0) + weights[word.start] * (has - got[word.start])
        if not gains:
            break
        best = max(gains, key=lambda number: (gains[number], -number))
        first, total = first or gains[best], total + gains[best]
        for word in own:
            got[word.start] = max(got[word.start], hits[word.key].get(best, 0.0))
    return first, total, {start for start, has in got.items() if has >= SAID}
