"""What tells whether a text gives a demand away: measures between the two, each a number."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from studio.domain.text.clauses import clauses
from studio.domain.text.coverage import Clause, Coverage, lead_in_end
from studio.domain.text.prose import is_negative
from studio.domain.text.word_index import WordIndex, word_index
from studio.domain.text.words import Word, content_words

CLAUSE = 0.6
"""Share of a clause from which on it counts as said."""
SAME = 0.85
"""From here on a clause and a demand are about the same, word for word."""
LETTERS = 4
NEAREST = 12
"""So many sentences of the text are read closely, those that have most of the demand."""
OFTEN = 50
"""Places of one word that are followed up."""
LONGEST_SENTENCE = 1_500
"""What is longer is data or a list without full stops, and has every word somewhere."""
_DIRECTS = re.compile(
    r"\b(?:please|wants?|needs?|should|must|ha(?:s|ve) to|don'?t|do not|only|keep|make|use|write|no|not|prefer|like"
    r"|include|put|send|give|add|mention|set|create|save|avoid|leave|say|tell|show|list|name|explain|compare|check|ask|let)\b",
    re.IGNORECASE,
)
"""Words of a sentence that asks for something; one that tells how things are has none of them."""
_LETTERS_OF_WORDS = re.compile(r"\w+")


class LeakFeatures(NamedTuple):
    """Of a demand and a text."""

    at_once: float
    """Share of the demand that the best sentence says."""
    exact: float
    """Share of it that the text has in the same words, not in kin or synonyms."""
    share: float
    """Share of it in clauses that are said."""
    echo: float
    """How well a clause of the text and the demand say each other: the harmonic mean of both shares."""
    letters: float
    """Share of its groups of four letters that the best sentence has."""
    chain: float
    """The most of its words that follow each other in the text, too: 1 for eight."""
    lead_in: float
    """Share of it that only says where or when."""
    gap: float
    """Weight of the longest stretch that is not said, 4 at most."""
    facts: float
    """Numbers and quoted words that the text has nowhere, 2 at most."""
    directs: float
    """1: the place that says most of it asks for something."""
    denied: bool
    """The text says just this, and the one forbids it while the other does not: opposite demands in the same words."""
    length: float
    """Of the text, 3 at most: the longer, the likelier that it has the words by accident."""


def leak_features(demand: str, text: str, said: Coverage) -> LeakFeatures:
    """``said`` is the coverage of the demand by that text."""
    own = content_words(demand)
    weight = said.weight or 1.0
    there = word_index(text)
    best = main_place(said)
    near = _nearest(own, said.weights, there)
    exact = sum(said.weights[word.start] for word in own if 1.0 in there.of(word.key).values()) / weight
    echoes = [_echo(demand, own, said.weights, sentence) for sentence in near]
    echo, clause = max(echoes, key=lambda pair: pair[0], default=(0.0, ""))
    return LeakFeatures(
        at_once=said.at_once,
        exact=exact,
        share=sum(clause.weight for clause in said.clauses if clause.said >= CLAUSE) / weight,
        echo=echo,
        letters=_letters_shared(demand, near),
        chain=min(_chain(own, text), 8) / 8,
        lead_in=_lead_in(demand, own, said.weights) / weight,
        gap=min(_gap(own, said), 4.0),
        facts=min(len(said.missing_facts), 2),
        directs=float(_DIRECTS.search(best.place.text) is not None),
        denied=min(echo, exact) >= SAME and _opposite(demand, clause),
        length=min(math.log1p(len(text) / 300), 3.0),
    )


def main_place(said: Coverage) -> Clause:
    """The clause of the demand of which most is said, and where."""
    return max(said.clauses, key=lambda clause: (clause.said >= CLAUSE) * clause.weight * clause.said)


def _nearest(own: Sequence[Word], weights: Mapping[int, float], there: WordIndex) -> list[str]:
    """The sentences that have most of a demand."""
    has: dict[int, float] = defaultdict(float)
    for word in own:
        for number, how_well in there.of(word.key).items():
            has[number] += weights[word.start] * how_well
    best = sorted(has, key=lambda number: (-has[number], number))[:NEAREST]
    lines = (" ".join(there.sentences[number].text.split()) for number in best)
    return [line for line in lines if len(line) < LONGEST_SENTENCE]


def _opposite(one: str, other: str) -> bool:
    """“No more than five” and “five at most” are one demand: with numbers, a “not” says little."""
    return is_negative(one) != is_negative(other) and not any(word.kind == "number" for word in content_words(one))


def _echo(demand: str, own: Sequence[Word], weights: Mapping[int, float], sentence: str) -> tuple[float, str]:
    """With the clause of the sentence."""
    mine, total = word_index(demand), sum(weights.values()) or 1.0
    best, clause = 0.0, ""
    for span in clauses(sentence):
        theirs = content_words(span.text)
        weight = sum(word.weight for word in theirs)
        back = sum(word.weight * mine.has(word.key) for word in theirs)
        if weight < 0.5 or not back:
            continue
        there = word_index(span.text)
        shares = back / weight, sum(weights[word.start] * there.has(word.key) for word in own) / total
        if (both := 2 * shares[0] * shares[1] / sum(shares)) > best:
            best, clause = both, span.text
    return best, clause


@lru_cache(maxsize=4_000)
def _letters(text: str) -> frozenset[str]:
    line = f" {' '.join(_LETTERS_OF_WORDS.findall(text.casefold()))} "
    return frozenset(line[start : start + LETTERS] for start in range(len(line) - LETTERS + 1))


def _letters_shared(demand: str, sentences: Sequence[str]) -> float:
    own = _letters(demand)
    shared = (len(own & _letters(sentence)) for sentence in sentences)
    return max(shared, default=0) / len(own) if own else 0.0


@lru_cache(maxsize=500)
def _where(text: str) -> Mapping[str, Sequence[int]]:
    """The places of each key among the content words of a text."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(content_words(text)):
        if len(found[word.key]) < OFTEN:
            found[word.key].append(place)
    return dict(found)


def _chain(own: Sequence[Word], text: str) -> int:
    where = _where(text)
    longest, before = 0, dict[int, int]()
    for word in own:
        before = {place: before.get(place - 1, 0) + 1 for place in where.get(word.key, ())}
        longest = max(longest, max(before.values(), default=0))
    return longest


def _lead_in(demand: str, own: Sequence[Word], weights: Mapping[int, float]) -> float:
    ends = [(part.start, lead_in_end(demand, part)) for part in clauses(demand)]
    return sum(weights[word.start] for word in own if any(start <= word.start < end for start, end in ends))


def _gap(own: Sequence[Word], said: Coverage) -> float:
    longest = running = 0.0
    for word in own:
        running = 0.0 if word.start in said.said else running + said.weights[word.start]
        longest = max(longest, running)
    return longest
