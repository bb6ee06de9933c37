"""Criteria that a comparison of characters, a count or a look at the tool calls would settle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from studio.domain.text.clauses import quoted
from studio.domain.text.exact_phrases import (
    BORDER,
    COUNT,
    COUNTED,
    EVERY,
    EXACT,
    EXISTS,
    EXPLAINS,
    FORMAT,
    GIVEN,
    HAS_PART,
    LACKS,
    NAMED,
    OF_A_WORK,
    OF_EACH,
    PLACE_AFTER,
    RUNS,
    SECTION,
    SPEECH,
    STATES,
    TOOL,
    UNCHANGED,
    VALUE,
)
from studio.domain.text.requirements import TOLERANCE

BESIDE = 50
"""Characters beside a count: with more of them, more than the count is asked for."""
SHORT, LONG, MANY = 75, 150, 3
"""Characters up to which a criterion with a value asks for little else; the more where it ends with the value, or where
so many values make it up."""
ExactKind = Literal["contains", "lacks", "exists", "count", "tool", "equals", "unchanged", "format", "runs"]


@dataclass(frozen=True, slots=True)
class Exact:
    """What an exact check would look at."""

    kind: ExactKind
    texts: tuple[str, ...]
    """What has to occur or be counted, verbatim from the criterion."""
    sure: bool
    """False: a person should look whether the wording is really fixed."""


@lru_cache(maxsize=4_000)
def exactness(criterion: str) -> Exact | None:
    """How this criterion could be checked without a judge; None: it takes reading."""
    criterion = criterion[:2_000]
    lenient = TOLERANCE.search(criterion) is not None and not EXACT.search(criterion)
    if found := EXISTS.search(criterion):
        return Exact("exists", (next(filter(None, found.groups())),), True)
    if found := UNCHANGED.search(criterion):
        return Exact("unchanged", (next(filter(None, found.groups())),), True)
    strings = _wanted(criterion)
    if LACKS.search(criterion) and not lenient and len(criterion) < 160:
        words = strings or _after(
            criterion, r"\b(?:word|words|name) ([\w-]+)", r"form of (?:the word )?(\w+)", r"contain (?:the )?([^,.;]+)"
        )
        if words:
            return Exact("lacks", words[:2], bool(strings) or "word" in criterion)
    if lenient:
        return None
    if found := RUNS.search(criterion):
        return Exact("runs", (found[0],), len(criterion) < LONG)
    if found := FORMAT.search(criterion):
        return Exact("format", (found["format"],), len(criterion) < SHORT)
    if found := COUNT.search(criterion):
        return Exact("count", (found[0],), len(criterion) - len(found[0]) < BESIDE)
    if found := COUNTED.search(criterion):
        return Exact("count", (found[0],), len(criterion) - len(found[0]) < BESIDE)
    found = TOOL.search(criterion)
    if found and not SPEECH.search(criterion[: found.start()]):
        return Exact("tool", (found[0],), True)
    if strings and STATES.search(criterion) and not EXPLAINS.search(criterion.replace(strings[0], "")):
        return Exact(
            "equals" if EXACT.search(criterion) else "contains",
            strings[:3],
            len(criterion) < 260 and not OF_EACH.match(criterion),
        )
    bare = _unquoted(criterion)
    values = tuple(match[0] for match in VALUE.finditer(criterion))
    if not values and (given := GIVEN.search(bare)):
        values = (given[given.lastgroup or 0].rstrip(".,"),)
    if not values and (ending := NAMED.search(bare)):
        values = (ending["name"],)
    if values and STATES.search(bare) and not EXPLAINS.search(bare) and len(bare) < 330:
        if BORDER.search(bare) or EVERY.match(bare):
            return None
        value, sentence = values[-1].rstrip("."), bare.rstrip(" .")
        ends = sentence.endswith(value) or OF_A_WORK.sub("", sentence).endswith(value)
        brief = len(bare) < (LONG if ends else SHORT) or len(values) >= MANY
        return Exact("contains", values[:3], brief and not EVERY.search(bare))
    return None


def _wanted(criterion: str) -> tuple[str, ...]:
    """Quoted words that have to occur, not those that name a place."""
    found = []
    for span in quoted(criterion):
        before, after = criterion[: span.start - 1], criterion[span.end :]
        if (
            not ((SECTION.search(before) and not HAS_PART.search(before)) or PLACE_AFTER.match(after))
            and len(span.text) < 120
        ):
            found.append(span.text.rstrip(".,;"))
    return tuple(found)


def _unquoted(criterion: str) -> str:
    for span in reversed(quoted(criterion)):
        criterion = criterion[: span.start] + criterion[span.end :]
    return criterion


def _after(criterion: str, *patterns: str) -> tuple[str, ...]:
    for pattern in patterns:
        if found := re.search(pattern, criterion):
            return (found[1].strip(),)
    return ()


def describe_check(exact: Exact, path: str | None) -> str:
    """The check in words, for the person who decides. ``path``: the file meant; empty: the reply; None: unclear."""
    where = f"the file “{path}”" if path else "the reply" if path == "" else "the file concerned"
    text = "”, “".join(exact.texts)
    return {
        "contains": f"{where} contains “{text}”",
        "equals": f"{where} or the tool call holds exactly “{text}”",
        "lacks": f"{where} does not contain “{text}”",
        "exists": f"the file “{text}” exists",
        "count": f"a grader script counts “{text}” in {where}",
        "tool": f"a tool was called that shows “{text}”",
        "format": f"a grader script reads {where} as {text}",
        "runs": f"a grader script tries whether {where} “{text}”",
        "unchanged": f"a grader script compares “{text}” with what was there",
    }[exact.kind]
