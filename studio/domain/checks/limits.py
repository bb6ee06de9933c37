"""Limits in a sentence: “at most 200 words”."""

from __future__ import annotations

import re
from typing import NamedTuple

from studio.domain.caching import cached
from studio.domain.text.clauses import Span
from studio.domain.text.words import words

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
