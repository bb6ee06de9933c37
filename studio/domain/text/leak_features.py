"""Numeric features for detecting whether a text gives a demand away."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from studio.domain.caching import cached
from studio.domain.text.clauses import clauses
from studio.domain.text.coverage import Clause, Coverage, lead_in_end
from studio.domain.text.prose import is_negative
from studio.domain.text.word_index import WordIndex, vocabulary, word_index
from studio.domain.text.words import Word, content_words

CLAUSE = 0.6
"""Share above which a clause counts as said."""
SAME = 0.85
"""Share above which a clause and a demand are practically identical."""
NGRAM_LENGTH = 4
MAX_SENTENCES = 12
"""Number of sentences examined closely: those that contain most of the demand."""
MAX_POSITIONS = 50
"""Occurrences of one word that are considered."""
LONGEST_SENTENCE = 1_500
"""Longer “sentences” are data or lists, which contain any word by chance."""
_DIRECTS = re.compile(
    r"\b(?:please|wants?|needs?|should|must|ha(?:s|ve) to|don'?t|do not|only|keep|make|use|write|no|not|prefer|like"
    r"|include|put|send|give|add|mention|set|create|save|avoid|leave|say|tell|show|list|name|explain|compare|check|ask|let)\b",
    re.IGNORECASE,
)
"""Words typical of requests, as opposed to statements."""
_LETTERS_OF_WORDS = re.compile(r"\w+")


class LeakFeatures(NamedTuple):
    at_once: float
    """Share of the demand said by the best sentence."""
    exact: float
    """Share of the demand in the same words, as opposed to related words or synonyms."""
    share: float
    """Share of the demand in clauses that are said."""
    echo: float
    """Mutual coverage of the demand and a clause of the text: the harmonic mean of both shares."""
    letters: float
    """Share of the demand's character 4-grams in the best sentence."""
    chain: float
    """Longest common run of words, divided by 8 and capped at 1."""
    lead_in: float
    """Share of the demand in introductions (“In the summary, …”)."""
    gap: float
    """Weight of the longest run of words not said, capped at 4."""
    facts: float
    """Number of missing numbers and quotations, capped at 2."""
    directs: float
    """1 if the best-matching part of the text is a request."""
    denied: bool
    """The text says the same in the same words, but negated."""
    length: float
    """Log length of the text, capped at 3: long texts contain words by accident."""


def leak_features(demand: str, text: str, coverage: Coverage) -> LeakFeatures:
    demand_words = content_words(demand)
    weight = coverage.weight or 1.0
    index = word_index(text)
    best = best_said_clause(coverage)
    closest = _closest_sentences(demand_words, coverage.weights, index)
    exact = sum([coverage.weights[word.start] for word in demand_words if index.has(word.key)]) / weight
    echoes = [_echo(demand, demand_words, coverage.weights, sentence) for sentence in closest]
    echo, clause = max(echoes, key=lambda pair: pair[0], default=(0.0, ""))
    return LeakFeatures(
        at_once=coverage.at_once,
        exact=exact,
        share=sum(clause.weight for clause in coverage.clauses if clause.said >= CLAUSE) / weight,
        echo=echo,
        letters=_letters_shared(demand, closest),
        chain=min(_chain(demand_words, text), 8) / 8,
        lead_in=_lead_in(demand, demand_words, coverage.weights) / weight,
        gap=min(_gap(demand_words, coverage), 4.0),
        facts=min(len(coverage.missing_facts), 2),
        directs=float(_DIRECTS.search(best.best_match.text) is not None),
        denied=min(echo, exact) >= SAME and _opposite(demand, clause),
        length=min(math.log1p(len(text) / 300), 3.0),
    )


def best_said_clause(coverage: Coverage) -> Clause:
    return max(coverage.clauses, key=lambda clause: (clause.said >= CLAUSE) * clause.weight * clause.said)


def _closest_sentences(demand_words: Sequence[Word], weights: Mapping[int, float], index: WordIndex) -> list[str]:
    weight_by_sentence: dict[int, float] = defaultdict(float)
    for word in demand_words:
        for number, similarity in index.of(word.key).items():
            weight_by_sentence[number] += weights[word.start] * similarity
    best = sorted(weight_by_sentence, key=lambda number: (-weight_by_sentence[number], number))[:MAX_SENTENCES]
    lines = (" ".join(index.sentences[number].text.split()) for number in best)
    return [line for line in lines if len(line) < LONGEST_SENTENCE]


def _opposite(demand: str, clause: str) -> bool:
    """Whether one is negated. Ignored for demands with numbers: “no more than five” equals “at most five”."""
    return is_negative(demand) != is_negative(clause) and not any(
        word.kind == "number" for word in content_words(demand)
    )


def _echo(demand: str, demand_words: Sequence[Word], weights: Mapping[int, float], sentence: str) -> tuple[float, str]:
    demand_has, total = vocabulary(demand).has, sum(weights.values()) or 1.0
    best, nearest = 0.0, ""
    for span in clauses(sentence):
        clause = vocabulary(span.text)
        weight, has = clause.weight, clause.has
        shared = sum([word_weight * demand_has(key) for key, word_weight, _, _ in clause.words])
        if weight < 0.5 or not shared:
            continue
        shares = shared / weight, sum([weights[word.start] * has(word.key) for word in demand_words]) / total
        if (both := 2 * shares[0] * shares[1] / sum(shares)) > best:
            best, nearest = both, span.text
    return best, nearest


@cached
def _letter_ngrams(text: str) -> frozenset[str]:
    line = f" {' '.join(_LETTERS_OF_WORDS.findall(text.casefold()))} "
    return frozenset([line[start : start + NGRAM_LENGTH] for start in range(len(line) - NGRAM_LENGTH + 1)])


def _letters_shared(demand: str, sentences: Sequence[str]) -> float:
    demand_words = _letter_ngrams(demand)
    shared = [len(demand_words & _letter_ngrams(sentence)) for sentence in sentences]
    return max(shared, default=0) / len(demand_words) if demand_words else 0.0


@cached
def _positions_by_key(text: str) -> Mapping[str, Sequence[int]]:
    positions: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(content_words(text)):
        if len(positions[word.key]) < MAX_POSITIONS:
            positions[word.key].append(position)
    return dict(positions)


def _chain(demand_words: Sequence[Word], text: str) -> int:
    positions = _positions_by_key(text)
    longest, before = 0, dict[int, int]()
    for word in demand_words:
        before = {position: before.get(position - 1, 0) + 1 for position in positions.get(word.key, ())}
        longest = max(longest, max(before.values(), default=0))
    return longest


def _lead_in(demand: str, demand_words: Sequence[Word], weights: Mapping[int, float]) -> float:
    ends = [(part.start, lead_in_end(demand, part)) for part in clauses(demand)]
    return sum(weights[word.start] for word in demand_words if any(start <= word.start < end for start, end in ends))


def _gap(demand_words: Sequence[Word], coverage: Coverage) -> float:
    longest = running = 0.0
    for word in demand_words:
        running = 0.0 if word.start in coverage.said else running + coverage.weights[word.start]
        longest = max(longest, running)
    return longest
