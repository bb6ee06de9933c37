"""Whether two texts say of one affair what cannot both be true."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from studio.domain.checks.facts import Fact, facts, sentences_with_facts, words_without_facts
from studio.domain.checks.limits import conflicting_limits
from studio.domain.text.clauses import clauses
from studio.domain.text.words import Word, similarity, words

SHARED = 0.7
"""Share of a clause's words, facts aside, that the other sentence has: then both speak of the same."""
OF_A_FILE = 0.9
"""Likewise for a sentence of a file, of which there are many."""
BACK = 0.6
"""Share of the file's sentence that the clause has to have in turn."""
FEWEST = {"number": 2.1, "day": 1.5, "time": 1.8, "weekday": 1.8, "day of the month": 1.5, "person": 1.8}
"""Words that have to be shared at least, about: a number stands for many things."""
NAMESAKE = 0.9
"""Likewise of two persons of one name, who differ in first name or title."""
LABEL = re.compile(
    r"(?:^|\b(?:no\.|number|item|day|week|month|year|step|part|section|chapter|phase|round|level|version|figure|table|article"
    r"|paragraph|clause|case|room|unit|task|option|need|check|question|slide|page|module|group|team|line)s?)\s*#?$",
    re.IGNORECASE,
)
"""Before a number that only tells one thing from the next."""

BORDER = re.compile(
    r"\b(?:by|until|till|before|from|since|after|between"
    r"|(?:week|weekend|month|days?) (?:of|from|beginning|commencing|starting))"
    r"\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)


class Disagreement(NamedTuple):
    mine: str
    theirs: str
    """The sentence that says otherwise."""


def find_disagreement(text: str, other: str, *, of_a_file: bool = False) -> Disagreement | None:
    """What ``text`` says and ``other`` says otherwise."""
    if limits := conflicting_limits(text, other):
        return Disagreement(*limits)
    return conflicting_facts(text, other, of_a_file)


@lru_cache(maxsize=30_000)
def conflicting_facts(text: str, other: str, of_a_file: bool) -> Disagreement | None:
    """One fact of a clause differs, and all its other words stand together in one sentence of the other text."""
    for clause in clauses(text):
        for mine in facts(clause.text):
            if _alone(mine, facts(clause.text)) and not _labels(mine, clause.text):
                for sentence, there in sentences_with_facts(other):
                    if _differ(mine, clause.text, sentence, there, other, of_a_file):
                        return Disagreement(clause.text[mine.start : mine.end], sentence)
    return None


def _alone(fact: Fact, pinned: Sequence[Fact]) -> bool:
    return sum(each.kind == fact.kind for each in pinned) == 1


def _labels(fact: Fact, text: str) -> bool:
    return fact.kind == "number" and LABEL.search(text, 0, fact.start) is not None


def _differ(mine: Fact, clause: str, sentence: str, there: Sequence[Fact], other: str, of_a_file: bool) -> bool:
    theirs = [each for each in there if each.kind == mine.kind]
    if len(theirs) != 1 or theirs[0].value == mine.value:
        return False
    if mine.kind != "number" and any(each.kind == mine.kind and each.value == mine.value for each in facts(other)):
        return False
    if mine.kind == "number" and _unit(clause, mine) != _unit(sentence, theirs[0]):
        return False
    if any(_otherwise(each, there) for each in facts(clause) if each is not mine):
        return False
    if _bounded(clause, mine) != _bounded(sentence, theirs[0]):
        return False
    agreed = {(each.kind, each.value) for each in facts(clause)} & {(each.kind, each.value) for each in there}
    return _same_affair(
        mine, theirs[0], words_without_facts(clause), words_without_facts(sentence), len(agreed), of_a_file
    )


def _otherwise(fact: Fact, there: Sequence[Fact]) -> bool:
    """Whether they differ in this, too: then they speak of two affairs."""
    same = [each.value for each in there if each.kind == fact.kind]
    return bool(same) and fact.value not in same


def _same_affair(
    mine: Fact, other: Fact, here: Sequence[Word], there: Sequence[Word], agreed: int, of_a_file: bool
) -> bool:
    weight = agreed + sum(word.weight for word in here)
    shared = agreed + sum(word.weight for word in here if any(similarity(word.key, each.key) >= 0.9 for each in there))
    namesakes = mine.kind == "person" and mine.value.split()[-1] == other.value.split()[-1]
    if shared < (NAMESAKE if namesakes else FEWEST[mine.kind]) or shared / weight < (
        OF_A_FILE if of_a_file else SHARED
    ):
        return False
    return not of_a_file or shared / (agreed + sum(word.weight for word in there) or 1) >= BACK


def _bounded(text: str, fact: Fact) -> str:
    """The word before a day or a time that makes it a border: “until”, “week of”."""
    found = BORDER.search(text, max(0, fact.start - 24), fact.start)
    return found[0].split()[0].casefold() if found else ""


def _unit(text: str, number: Fact) -> str:
    """The word after the number, or the sign before it."""
    after = next((word.key for word in words(text[number.end : number.end + 40])), "")
    before = text[max(0, number.start - 1) : number.start].strip()
    return before if before in ("$", "€", "£", "¥") else after
