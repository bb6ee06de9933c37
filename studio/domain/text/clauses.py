"""Text cut into sentences and clauses, with their places."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_SENTENCE_END = re.compile(
    r"(?=[.!?。！？])(?<!\be\.g)(?<!\bi\.e)(?<![ap]\.m)(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bNo)(?<!\bMrs)[.!?。！？]+[\"'”’)\]]*(?=\s|$)|\n+"
)
_CLAUSE_END = re.compile(
    r"[;；]\s*|:\s+|\s+[—–]\s+|\s-\s"
    r"|,?\s+(?=(?:rather than|instead of|without|so that|as well as|while|but)\b)"
    r"|,\s+(?=(?:and|then|or|so|including|such as|e\.g\.)\b)"
    r"|\s+and\s+(?=(?:then\s+)?(?:please\s+)?(?:[a-z]+ly\s+)?(?:ask|give|say|state|present|provide|send|write|report|list|add|"
    r"explain|identify|remove|clear|include|make|keep|set|use|mention|confirm|show|complete|create|ensure|assess|"
    r"analy[sz]e|calculate|compare|save|name|mark|flag|propose|recommend|must|should|is|are|does|has)\b)"
)


class Span(NamedTuple):
    """A stretch of a text: ``text`` is what stands at ``start:end``."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=4_000)
def sentences(text: str) -> tuple[Span, ...]:
    """Sentences and lines; a full stop inside a file name, a number or “p.m.” ends none."""
    return _cut(text, 0, len(text), _SENTENCE_END, keep_end=True)


@lru_cache(maxsize=4_000)
def clauses(text: str) -> tuple[Span, ...]:
    """Parts of sentences that can be true or false by themselves, as far as punctuation and joining words tell."""
    return tuple(part for span in sentences(text) for part in _cut(text, span.start, span.end, _CLAUSE_END))


def _cut(text: str, start: int, end: int, border: re.Pattern[str], *, keep_end: bool = False) -> tuple[Span, ...]:
    spans, begin = [], start
    for match in border.finditer(text, start, end):
        spans.append((begin, match.end() if keep_end else match.start()))
        begin = match.end()
    spans.append((begin, end))
    return tuple(span for pair in spans if (span := _trimmed(text, *pair)).text)


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    kept = part.strip()
    return Span(kept, start + left, start + left + len(kept))


_QUOTED = re.compile(
    r"“([^”]{2,200})”|\"([^\"\n]{2,200})\"|(?<!\w)[‘'](?!s\s)((?:[^‘’'\n]|(?<=\w)[’'](?=\w)){2,120})[’'](?!\w)|`([^`\n]{1,200})`"
)


@lru_cache(maxsize=4_000)
def quoted(text: str) -> tuple[Span, ...]:
    """What stands between quotation marks, without them."""
    found = []
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 1
        found.append(_trimmed(text, match.start(group), match.end(group)))
    return tuple(span for span in found if span.text)
