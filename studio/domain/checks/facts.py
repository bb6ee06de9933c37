"""Facts in a sentence (days, times, weekdays, persons, numbers), its other words, and limits: “at most 200 words”."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from studio.domain.caching import cached
from studio.domain.text.clauses import Span, sentences
from studio.domain.text.dates import find_days
from studio.domain.text.words import Word, content_words, words

FactKind = Literal["day", "time", "weekday", "day of the month", "person", "number"]

_DIGIT = re.compile(r"\d")
TIME = re.compile(
    r"(?<![\d:.])(?:[01]?\d|2[0-3])[:.][0-5]\d(?:\s?[ap]\.?m\b)?(?![\d:.]\d)|(?<!\d)\d{1,2}\s?[ap]\.?m\b", re.I
)
CLOCK = re.compile(r"\d{1,2}:\d\d|[ap]\.?m\b", re.IGNORECASE)
WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b")
ORDINAL = re.compile(r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of|century|floor|time|place|edition|birthday))")
PERSON = re.compile(
    r"\b(?P<title>Mr|Mrs|Ms|Mx|Miss|Dr|Prof)\.?\s+(?P<names>(?:[A-Z][\w’'-]+\s+){0,2}[A-Z][\w’'-]*[a-z][\w’'-]*)"
)
_TITLES = ("Mr", "Ms", "Mx", "Miss", "Dr", "Prof")
REPORTS = re.compile(
    r"\W*(?:the|an?|each|every|its?|his|her|their)\s+(?:[\w’'-]+\s+){1,3}?(?:says?|states?|names?|tells?|asks?|mentions?|shows?"
    r"|gives?|reminds?|notes?|explains?|confirms?|lists?|reads?|announces?)\s+(?:(?:that|for|of|in|to)\s+)*",
    re.IGNORECASE,
)
"""“The notice says that …”: an introduction that is not part of the statement."""


class Fact(NamedTuple):
    kind: FactKind
    value: str
    start: int
    end: int


@cached
def facts(text: str) -> tuple[Fact, ...]:
    accepted, taken = [], bytearray(len(text))  # the most reliable kinds come first and win overlaps
    for fact in _find_candidates(text):
        if not any(taken[fact.start : fact.end]):
            taken[fact.start : fact.end] = b"x" * (fact.end - fact.start)
            accepted.append(fact)
    return tuple(sorted(accepted, key=lambda fact: fact.start))


@cached
def sentences_with_facts(text: str) -> tuple[tuple[str, tuple[Fact, ...]], ...]:
    result, remaining = [], list(reversed(facts(text)))
    for span in sentences(text):
        inside = []
        while remaining and remaining[-1].start < span.end:
            fact = remaining.pop()
            inside.append(fact._replace(start=fact.start - span.start, end=fact.end - span.start))
        if inside:
            result.append((span.text, tuple(inside)))
    return tuple(result)


def _find_candidates(text: str) -> Iterator[Fact]:
    has_digits = _DIGIT.search(text) is not None  # most sentences have none, and search is quicker than three patterns
    for day in find_days(text) if has_digits else ():
        yield Fact("day", f"{day.month}-{day.day}", day.span.start, day.span.end)
    for match in TIME.finditer(text) if has_digits else ():
        if CLOCK.search(match[0]):
            yield Fact("time", _clock(match[0]), match.start(), match.end())
    for match in WEEKDAY.finditer(text) if "day" in text else ():
        yield Fact("weekday", match[0].rstrip("s"), match.start(), match.end())
    for match in ORDINAL.finditer(text) if has_digits else ():
        yield Fact("day of the month", match["day"], match.start("day"), match.end())
    for match in PERSON.finditer(text) if any(title in text for title in _TITLES) else ():
        yield Fact("person", f"{match['title']} {_without_possessive(match['names'])}", match.start(), match.end())
    for word in words(text):
        if word.kind == "number":
            yield Fact("number", word.key, word.start, word.end)


def _clock(text: str) -> str:
    digits = re.findall(r"\d+", text)
    hour, minute = int(digits[0]), int(digits[1]) if len(digits) > 1 else 0
    if re.search(r"p\.?m", text, re.IGNORECASE) and hour < 12:
        hour += 12
    return f"{hour}:{minute:02d}"


def _without_possessive(names: str) -> str:
    return " ".join(re.sub(r"['’]s\b", "", names).split())


@cached
def words_without_facts(text: str) -> tuple[Word, ...]:
    """The content words of a sentence, without its facts and the introduction (“The notice says that”)."""
    reporting = REPORTS.match(text)
    start = reporting.end() if reporting else 0
    sentence_facts = facts(text)
    return tuple(
        word
        for word in content_words(text)
        if word.start >= start and not any(fact.start <= word.start < fact.end for fact in sentence_facts)
    )


LIMIT = re.compile(
    r"\b(?P<kind>exactly|at most|no more than|not more than|maximum(?: of)?|max\.?|up to|under"
    r"|no longer than|not longer than|shorter than|fewer than|less than|at least"
    r"|no fewer than|minimum(?: of)?|more than|over|longer than)\s+(?P<count>\d{1,7}(?:,\d{3})*"
    r"|[a-z]+)[\s-]+(?:[a-z]+[\s-]+)?(?P<noun>words?|characters?"
    r"|paragraphs?|sentences?|bullets?|bullet points?|questions?|slides?|pages?|posts?|items?"
    r"|headlines?|lines?|rows?|steps?"
    r"|minutes?|seconds?|guidelines?|options?)\b",
    re.IGNORECASE,
)
NONE = re.compile(r"(?:^|[.;]\s*)(?:no|none of|not one of|never)\b[^.;]*$", re.IGNORECASE)
"""Precedes a limit and inverts it."""
UPPER = (
    "at most", "no more than", "not more than", "maximum", "max", "up to", "under", "fewer than", "less than",
    "no longer than", "not longer than", "shorter than",
)  # fmt: skip


class Limit(NamedTuple):
    noun: str
    low: float
    high: float
    span: Span


@cached
def limits(text: str) -> tuple[Limit, ...]:
    result = []
    for match in LIMIT.finditer(text):
        number = next(iter(words(match["count"])), None)
        if number is None or number.kind != "number" or not number.key[1:].isdigit():
            continue
        count, kind = float(number.key[1:]), match["kind"].lower().rstrip(".")
        upper = kind.startswith(UPPER) != (NONE.search(text, 0, match.start()) is not None)
        low, high = (count, count) if kind == "exactly" else (0, count) if upper else (count, 10**9)
        noun = match["noun"].lower().removesuffix("s")
        result.append(Limit(noun, low, high, Span(match[0], match.start(), match.end())))
    return tuple(result)


def conflicting_limits(text: str, other: str) -> tuple[str, str] | None:
    for mine in limits(text):
        others = [limit for limit in limits(other) if limit.noun == mine.noun]
        if len(others) == 1 and (mine.low > others[0].high or mine.high < others[0].low):
            return mine.span.text, others[0].span.text
    return None
