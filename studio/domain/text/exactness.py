"""Recognizes criteria that can be decided by comparing text, counting, or inspecting tool calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from studio.domain.caching import cached
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
    PART_NAME_AFTER,
    PART_NAME_BEFORE,
    RUNS,
    SPEECH,
    STATES,
    TOOL,
    UNCHANGED,
    VALUE,
)
from studio.domain.text.requirements import TOLERANCE

MAX_BESIDE_COUNT = 50
"""Characters beside a count above which the criterion asks for more than the count."""
SHORT, LONG, MANY = 75, 150, 3
"""A criterion with a value asks for little else if it has at most SHORT characters, or LONG if it ends with the value
or has at least MANY values."""
ExactKind = Literal["contains", "lacks", "exists", "count", "tool", "equals", "unchanged", "format", "runs"]


@dataclass(frozen=True, slots=True)
class ExactForm:
    kind: ExactKind
    texts: tuple[str, ...]
    """What must occur or be counted, verbatim from the criterion."""
    sure: bool
    """False: a person should confirm that the wording is fixed."""


@cached
def exactness(criterion: str) -> ExactForm | None:
    """How this criterion could be checked without a judge; None if it needs one."""
    criterion = criterion[:2_000]
    lenient = TOLERANCE.search(criterion) is not None and not EXACT.search(criterion)
    if match := EXISTS.search(criterion):
        return ExactForm("exists", (next(filter(None, match.groups())),), True)
    if match := UNCHANGED.search(criterion):
        return ExactForm("unchanged", (next(filter(None, match.groups())),), True)
    quotes = _required_quotes(criterion)
    if LACKS.search(criterion) and not lenient and len(criterion) < 160:
        terms = quotes or _first_match(
            criterion, r"\b(?:word|words|name) ([\w-]+)", r"form of (?:the word )?(\w+)", r"contain (?:the )?([^,.;]+)"
        )
        if terms:
            return ExactForm("lacks", terms[:2], bool(quotes) or "word" in criterion)
    if lenient:
        return None
    if match := RUNS.search(criterion):
        return ExactForm("runs", (match[0],), len(criterion) < LONG)
    if match := FORMAT.search(criterion):
        return ExactForm("format", (match["format"],), len(criterion) < SHORT)
    if match := COUNT.search(criterion):
        return ExactForm("count", (match[0],), len(criterion) - len(match[0]) < MAX_BESIDE_COUNT)
    if match := COUNTED.search(criterion):
        return ExactForm("count", (match[0],), len(criterion) - len(match[0]) < MAX_BESIDE_COUNT)
    match = TOOL.search(criterion)
    if match and not SPEECH.search(criterion[: match.start()]):
        return ExactForm("tool", (match[0],), True)
    if quotes and STATES.search(criterion) and not EXPLAINS.search(criterion.replace(quotes[0], "")):
        return ExactForm(
            "equals" if EXACT.search(criterion) else "contains",
            quotes[:3],
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
        return ExactForm("contains", values[:3], brief and not EVERY.search(bare))
    return None


def _required_quotes(criterion: str) -> tuple[str, ...]:
    quotes = []
    for span in quoted(criterion):
        before, after = criterion[: span.start - 1], criterion[span.end :]
        if (
            not ((PART_NAME_BEFORE.search(before) and not HAS_PART.search(before)) or PART_NAME_AFTER.match(after))
            and len(span.text) < 120
        ):
            quotes.append(span.text.rstrip(".,;"))
    return tuple(quotes)


def _unquoted(criterion: str) -> str:
    for span in reversed(quoted(criterion)):
        criterion = criterion[: span.start] + criterion[span.end :]
    return criterion


def _first_match(criterion: str, *patterns: str) -> tuple[str, ...]:
    for pattern in patterns:
        if match := re.search(pattern, criterion):
            return (match[1].strip(),)
    return ()


def describe_check(exact: ExactForm) -> str:
    """What a grader script would do."""
    text = exact.texts[0]
    return {
        "count": f"it counts “{text}”",
        "format": f"it reads the file as {text}",
        "runs": f"it tries whether the result “{text}”",
        "unchanged": f"it compares “{text}” with what was there",
    }[exact.kind]
