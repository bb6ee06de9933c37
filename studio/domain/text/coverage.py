"""Measures how much of a demand another text says, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from studio.domain.caching import cached
from studio.domain.text.clauses import Span, clauses, quoted
from studio.domain.text.word_index import SAID, WordIndex, vocabulary, word_index
from studio.domain.text.words import Word, content_words

TOPIC_WEIGHT = 0.45
"""Weight of a demand's topic, relative to what it asks for."""
ASIDE_WEIGHT = 0.3
"""Weight of contrasts and examples."""
SENTENCES_TOGETHER = 3
"""Number of sentences that may say a demand together."""
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
    span: Span
    weight: float
    """Total weight of its words."""
    said: float
    """Share of the weight in the best-matching part of the other text: 0 to 1."""
    best_match: Span


@dataclass(frozen=True, slots=True)
class Coverage:
    clauses: tuple[Clause, ...]
    near: float
    """Share of the whole demand, each clause at its best match: 0 to 1."""
    at_once: float
    """Share said by the best single sentence."""
    together: float
    """Share said by the best three sentences."""
    said: frozenset[int]
    """Start positions of the demand's words that those three contain."""
    weights: Mapping[int, float]
    """Weights of the demand's words, by start position."""
    missing: tuple[Word, ...]
    """Words of the demand that the text does not contain."""
    missing_facts: tuple[str, ...]
    """Numbers and quotations of the demand that the text does not contain."""

    @property
    def weight(self) -> float:
        return sum(clause.weight for clause in self.clauses)


@lru_cache(4_096)
def coverage(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Coverage:
    """``topic`` are keys of words that are common in this task; they count half."""
    demand_words = content_words(demand)
    weights = _weights(demand, demand_words, topic)
    index = word_index(text)
    hits = {word.key: index.of(word.key) for word in demand_words}
    clause_matches = []
    for span in clauses(demand):
        clause_words = [(word, weights[word.start]) for word in demand_words if span.start <= word.start < span.end]
        if weight := sum(each for _, each in clause_words):
            clause_matches.append(_best_match(span, clause_words, weight, index, text, hits))
    weight = sum(clause.weight for clause in clause_matches)
    missing = tuple([word for word in demand_words if not hits[word.key]])
    lower = " ".join(text.casefold().split())
    facts = [word.text for word in missing if word.kind == "number"]
    quotes = [" ".join(span.text.casefold().split()).strip(" .,;") for span in quoted(demand)]
    facts += [quote for quote in quotes if quote not in lower]
    at_once, together, said = _in_few_sentences(demand_words, weights, hits)
    return Coverage(
        clauses=tuple(clause_matches),
        near=sum(clause.said * clause.weight for clause in clause_matches) / weight if weight else 0.0,
        at_once=at_once / weight if weight else 0.0,
        together=together / weight if weight else 0.0,
        said=frozenset(said),
        weights=weights,
        missing=missing,
        missing_facts=tuple(facts),
    )


def word_overlap(demand: str, text: str) -> float:
    """Share of a demand's words the text contains anywhere. A quick filter before ``coverage``."""
    return vocabulary(text).share_of(vocabulary(demand))


def overlaps(demand: str, text: str, least: float) -> bool:
    """Whether ``word_overlap`` is at least this."""
    return vocabulary(text).reaches(least, vocabulary(demand))


def lead_in_end(demand: str, clause: Span) -> int:
    """End of a clause's introduction, such as “In the summary, …”; its start if there is none."""
    lead = _LEAD_IN.match(demand, clause.start, clause.end)
    return lead.end() if lead else clause.start


def request_start(demand: str, clause: Span) -> int:
    start = lead_in_end(demand, clause)
    subject = _SUBJECT.match(demand, start, clause.end)
    return subject.end() if subject else start


def _weights(demand: str, demand_words: Sequence[Word], topic: frozenset[str]) -> dict[int, float]:
    weights = {word.start: word.weight * (0.5 if word.key in topic else 1.0) for word in demand_words}
    for begin, end, request, aside in _clause_parts(demand):
        clause_starts = [word.start for word in demand_words if begin <= word.start < end]
        asked = sum([weights[start] for start in clause_starts if start >= request])
        for start in clause_starts:
            if asked >= 1 and start < request:
                weights[start] *= TOPIC_WEIGHT
            if start >= aside:
                weights[start] *= ASIDE_WEIGHT
    return weights


@cached
def _clause_parts(demand: str) -> tuple[tuple[int, int, int, int], ...]:
    """Of each clause: its beginning, its end, where its request begins, and where a contrast or an example does."""
    parts = []
    for span in clauses(demand):
        example = _EXAMPLE.search(demand, span.start, span.end)
        aside = example.start() if example else span.end
        if _CONTRAST.match(demand, span.start, span.end):
            aside = span.start
        parts.append((span.start, span.end, request_start(demand, span), aside))
    return tuple(parts)


def _best_match(
    span: Span,
    clause_words: Sequence[tuple[Word, float]],
    weight: float,
    index: WordIndex,
    text: str,
    hits: Mapping[str, Mapping[int, float]],
) -> Clause:
    best, best_span = 0.0, Span("", 0, 0)
    found = [(hits[word.key], word_weight) for word, word_weight in clause_words if hits[word.key]]
    touched: set[int] = set().union(*[matches for matches, _ in found])
    for number in sorted(touched | {number - 1 for number in touched if number}):
        alone, paired = 0.0, 0.0
        for matches, word_weight in found:
            similarity, next_similarity = matches.get(number, 0.0), matches.get(number + 1, 0.0)
            alone += word_weight * similarity
            paired += word_weight * max(similarity, next_similarity)
        if alone / weight > best + 0.001:
            best, best_span = alone / weight, index.sentences[number]
        if paired / weight > best + 0.001:
            start, end = index.sentences[number].start, index.sentences[number + 1].end
            best, best_span = paired / weight, Span(text[start:end], start, end)
    return Clause(span, weight, min(best, 1.0), best_span)


def _in_few_sentences(
    demand_words: Sequence[Word], weights: Mapping[int, float], hits: Mapping[str, Mapping[int, float]]
) -> tuple[float, float, set[int]]:
    """Weight said by the best sentence, by the best few, and the start positions of the words these contain."""
    best_by_word = dict.fromkeys([word.start for word in demand_words], 0.0)
    first, total = 0.0, 0.0
    found = [(word.start, weights[word.start], hits[word.key]) for word in demand_words if hits[word.key]]
    for _ in range(SENTENCES_TOGETHER):
        gains: dict[int, float] = {}
        for start, weight, matches in found:
            so_far = best_by_word[start]
            for number, similarity in matches.items():
                if similarity > so_far:
                    gains[number] = gains.get(number, 0.0) + weight * (similarity - so_far)
        if not gains:
            break
        best = max(gains, key=lambda number: (gains[number], -number))
        first, total = first or gains[best], total + gains[best]
        for start, _, matches in found:
            best_by_word[start] = max(best_by_word[start], matches.get(best, 0.0))
    return first, total, {start for start, similarity in best_by_word.items() if similarity >= SAID}
