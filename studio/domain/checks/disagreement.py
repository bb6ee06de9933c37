"""Detects conflicting statements about the same subject in two texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from studio.domain.caching import cached
from studio.domain.checks.facts import (
    Fact,
    FactKind,
    conflicting_limits,
    facts,
    sentences_with_facts,
    words_without_facts,
)
from studio.domain.text.clauses import clauses
from studio.domain.text.words import Word, similarity, words

MIN_SHARED = 0.7
"""Share of a clause's words, facts aside, that the other sentence needs to be about the same subject."""
MIN_SHARED_OF_FILE = 0.9
"""Higher for files, which have many sentences."""
MIN_SHARED_BACK = 0.6
"""Share of the file's sentence that the clause needs in turn."""
MIN_SHARED_WEIGHT = {"number": 2.1, "day": 1.5, "time": 1.8, "weekday": 1.8, "day of the month": 1.5, "person": 1.8}
"""Minimum weight of shared words by kind of fact; highest for numbers, which can mean many things."""
MIN_SHARED_OF_NAMESAKES = 0.9
"""For two persons with the same surname, who differ in first name or title."""
LABEL = re.compile(
    r"\b(?:no\.|number|item|day|week|month|year|step|part|section|chapter|phase|round|level|version|figure|table|article"
    r"|paragraph|clause|case|room|unit|task|option|need|check|question|slide|page|module|group|team|line)s?$",
    re.IGNORECASE,
)
"""Precedes a number that is only a label, with spaces and a # between."""
LONGEST_LABEL = 20
"""Characters."""

BOUNDARY = re.compile(
    r"\b(?:by|until|till|before|from|since|after|between"
    r"|(?:week|weekend|month|days?) (?:of|from|beginning|commencing|starting))"
    r"\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)


class ConflictingStatements(NamedTuple):
    mine: str
    theirs: str
    """The conflicting sentence."""


def find_disagreement(text: str, other: str, *, of_a_file: bool = False) -> ConflictingStatements | None:
    if limits := conflicting_limits(text, other):
        return ConflictingStatements(*limits)
    if _kinds_in_clauses(text).isdisjoint(_kinds_in_sentences(other)):
        return None
    return conflicting_facts(text, other, of_a_file)


@cached
def _kinds_in_clauses(text: str) -> frozenset[FactKind]:
    return frozenset(fact.kind for clause in clauses(text) for fact in facts(clause.text))


@cached
def _kinds_in_sentences(text: str) -> frozenset[FactKind]:
    return frozenset(fact.kind for _, sentence_facts in sentences_with_facts(text) for fact in sentence_facts)


def conflicting_facts(text: str, other: str, of_a_file: bool) -> ConflictingStatements | None:
    for clause, mine in _telling_facts(text):
        for sentence, sentence_facts in sentences_with_facts(other):
            if _facts_conflict(mine, clause, sentence, sentence_facts, other, of_a_file):
                return ConflictingStatements(clause[mine.start : mine.end], sentence)
    return None


@cached
def _telling_facts(text: str) -> tuple[tuple[str, Fact], ...]:
    """Each fact that is the only one of its kind in its clause and no label, with the clause."""
    return tuple(
        (clause.text, fact)
        for clause in clauses(text)
        for fact in facts(clause.text)
        if _is_only_one_of_kind(fact, facts(clause.text)) and not _is_label(fact, clause.text)
    )


def _is_only_one_of_kind(fact: Fact, facts_of_clause: Sequence[Fact]) -> bool:
    return sum(other.kind == fact.kind for other in facts_of_clause) == 1


def _is_label(fact: Fact, text: str) -> bool:
    if fact.kind != "number":
        return False
    before = text[: fact.start].removesuffix("\n").removesuffix("#").rstrip()
    return not before or LABEL.search(before, max(0, len(before) - LONGEST_LABEL)) is not None


def _facts_conflict(
    mine: Fact, clause: str, sentence: str, sentence_facts: Sequence[Fact], other: str, of_a_file: bool
) -> bool:
    theirs = [other_fact for other_fact in sentence_facts if other_fact.kind == mine.kind]
    if len(theirs) != 1 or theirs[0].value == mine.value:
        return False
    if mine.kind != "number" and any(
        other_fact.kind == mine.kind and other_fact.value == mine.value for other_fact in facts(other)
    ):
        return False
    if mine.kind == "number" and _unit(clause, mine) != _unit(sentence, theirs[0]):
        return False
    if any(_contradicts(other_fact, sentence_facts) for other_fact in facts(clause) if other_fact != mine):
        return False
    if _boundary_word(clause, mine) != _boundary_word(sentence, theirs[0]):
        return False
    agreed = {(other_fact.kind, other_fact.value) for other_fact in facts(clause)} & {
        (other_fact.kind, other_fact.value) for other_fact in sentence_facts
    }
    return _is_same_subject(
        mine, theirs[0], words_without_facts(clause), words_without_facts(sentence), len(agreed), of_a_file
    )


def _contradicts(fact: Fact, facts: Sequence[Fact]) -> bool:
    same = [each.value for each in facts if each.kind == fact.kind]
    return bool(same) and fact.value not in same


def _is_same_subject(
    mine: Fact, other: Fact, mine_words: Sequence[Word], their_words: Sequence[Word], agreed: int, of_a_file: bool
) -> bool:
    weight = agreed + sum(word.weight for word in mine_words)
    their_starts: dict[str, list[str]] = {}  # forms of one word start alike
    for word in their_words:
        their_starts.setdefault(word.key[:5], []).append(word.key)
    shared = agreed + sum(
        word.weight
        for word in mine_words
        if any(similarity(word.key, key) >= 0.9 for key in their_starts.get(word.key[:5], ()))
    )
    namesakes = mine.kind == "person" and mine.value.split()[-1] == other.value.split()[-1]
    if shared < (MIN_SHARED_OF_NAMESAKES if namesakes else MIN_SHARED_WEIGHT[mine.kind]) or shared / weight < (
        MIN_SHARED_OF_FILE if of_a_file else MIN_SHARED
    ):
        return False
    return not of_a_file or shared / (agreed + sum(word.weight for word in their_words) or 1) >= MIN_SHARED_BACK


def _boundary_word(text: str, fact: Fact) -> str:
    """“until” of “until Friday”, “week” of “week of 3 May”."""
    match = BOUNDARY.search(text, max(0, fact.start - 24), fact.start)
    return match[0].split()[0].casefold() if match else ""


def _unit(text: str, number: Fact) -> str:
    after = next((word.key for word in words(text[number.end : number.end + 40])), "")
    before = text[max(0, number.start - 1) : number.start].strip()
    return before if before in ("$", "€", "£", "¥") else after
