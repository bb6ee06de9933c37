"""What a sentence pins down: a day, a time, a weekday, a person, a number; and what is left of it without that."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from studio.spec.text.dates import days
from studio.spec.text.words import Word, content, words

FactKind = Literal["day", "time", "weekday", "day of the month", "person", "number"]

TIME = re.compile(
    r"(?<![\d:.])(?:[01]?\d|2[0-3])[:.][0-5]\d(?:\s?[ap]\.?m\b)?(?![\d:.]\d)|(?<!\d)\d{1,2}\s?[ap]\.?m\b", re.I
)
CLOCK = re.compile(r"\d{1,2}:\d\d|[ap]\.?m\b", re.IGNORECASE)
WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b")
ORDINAL = re.compile(r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of|century|floor|time|place|edition|birthday))")
PERSON = re.compile(
    r"\b(?P<title>Mr|Mrs|Ms|Mx|Miss|Dr|Prof)\.?\s+(?P<names>(?:[A-Z][\w’'-]+\s+){0,2}[A-Z][\w’'-]*[a-z][\w’'-]*)"
)
REPORTS = re.compile(
    r"\W*(?:the|an?|each|every|its?|his|her|their)\s+(?:[\w’'-]+\s+){1,3}?(?:says?|states?|names?|tells?|asks?|mentions?|shows?"
    r"|gives?|reminds?|notes?|explains?|confirms?|lists?|reads?|announces?)\s+(?:(?:that|for|of|in|to)\s+)*",
    re.IGNORECASE,
)
"""“The notice says that …”: what follows is said of the world."""


class Fact(NamedTuple):
    kind: FactKind
    value: str
    start: int
    end: int


@lru_cache(maxsize=20_000)
def facts(text: str) -> tuple[Fact, ...]:
    """In order; none lies in another one."""
    found: list[Fact] = [Fact("day", f"{each.month}-{each.day}", each.span.start, each.span.end) for each in days(text)]
    for match in TIME.finditer(text):
        if CLOCK.search(match[0]):
            _add(found, Fact("time", _clock(match[0]), match.start(), match.end()))
    for match in WEEKDAY.finditer(text):
        _add(found, Fact("weekday", match[0].rstrip("s"), match.start(), match.end()))
    for match in ORDINAL.finditer(text):
        _add(found, Fact("day of the month", match["day"], match.start("day"), match.end()))
    for match in PERSON.finditer(text):
        _add(found, Fact("person", f"{match['title']} {_plain(match['names'])}", match.start(), match.end()))
    for word in words(text):
        if word.kind == "number":
            _add(found, Fact("number", word.key, word.start, word.end))
    return tuple(sorted(found, key=lambda fact: fact.start))


def _add(found: list[Fact], fact: Fact) -> None:
    if all(fact.end <= other.start or fact.start >= other.end for other in found):
        found.append(fact)


def _clock(text: str) -> str:
    digits = re.findall(r"\d+", text)
    hour, minute = int(digits[0]), int(digits[1]) if len(digits) > 1 else 0
    if re.search(r"p\.?m", text, re.IGNORECASE) and hour < 12:
        hour += 12
    return f"{hour}:{minute:02d}"


def _plain(names: str) -> str:
    return " ".join(re.sub(r"['’]s\b", "", names).split())


@lru_cache(maxsize=20_000)
def besides(text: str) -> tuple[Word, ...]:
    """The words of a sentence that carry something, without its facts and without who says it."""
    lead = REPORTS.match(text)
    begin = lead.end() if lead else 0
    pinned = facts(text)
    return tuple(
        word
        for word in content(text)
        if word.start >= begin and not any(fact.start <= word.start < fact.end for fact in pinned)
    )
