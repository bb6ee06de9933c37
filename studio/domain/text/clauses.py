"""Splits text into sentences and clauses, with positions."""

from __future__ import annotations

import re
from typing import NamedTuple

from studio.domain.caching import cached

_SENTENCE_END = re.compile(
    r"(?=[.!?。！？])(?<!\be\.g)(?<!\bi\.e)(?<![ap]\.m)(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bNo)(?<!\bMrs)[.!?。！？]+[\"'”’)\]]*(?=\s|$)|\n+"
)
_CLAUSE_END = re.compile(
    r"[;；]\s*|:\s+|\s+[—–]\s+|\s-\s"
    r"|,?(?<!\ba)(?<!\bA)\s+(?=(?:rather than|instead of|without|so that|as well as|while|but)\b)"
    r"|,\s+(?=(?:and|then|or|so|including|such as|e\.g\.)\b)"
    r"|\s+and\s+(?=(?:then\s+)?(?:please\s+)?(?:[a-z]+ly\s+)?(?:ask|give|say|state|present|provide|send|write|report|list|add|"
    r"explain|identify|remove|clear|include|make|keep|set|use|mention|confirm|show|complete|create|ensure|assess|"
    r"analy[sz]e|calculate|compare|save|name|mark|flag|propose|recommend|must|should|is|are|does|has)\b)"
)


class Span(NamedTuple):
    """A part of a text: ``text`` is at ``start:end``."""

    text: str
    start: int
    end: int


@cached
def sentences(text: str) -> tuple[Span, ...]:
    """Sentences and lines; full stops inside file names, numbers and “p.m.” are not sentence ends."""
    return _cut(text, 0, len(text), _SENTENCE_END, keep_end=True)


@cached
def clauses(text: str) -> tuple[Span, ...]:
    """Parts of sentences that can be true or false independently, judged by punctuation and conjunctions."""
    return tuple(part for span in sentences(text) for part in _cut(text, span.start, span.end, _CLAUSE_END))


def _cut(text: str, start: int, end: int, boundary: re.Pattern[str], *, keep_end: bool = False) -> tuple[Span, ...]:
    spans, start_of_part = [], start
    for match in boundary.finditer(text, start, end):
        spans.append((start_of_part, match.end() if keep_end else match.start()))
        start_of_part = match.end()
    spans.append((start_of_part, end))
    return tuple(span for pair in spans if (span := _trimmed(text, *pair)).text)


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    stripped = part.strip()
    return Span(stripped, start + left, start + left + len(stripped))


_QUOTED = re.compile(
    r"“([^”]{2,200})”|\"([^\"\n]{2,200})\"|(?<!\w)[‘'](?!s\s)((?:[^‘’'\n]|(?<=\w)[’'](?=\w)){2,120})[’'](?!\w)|`([^`\n]{1,200})`"
)


@cached
def quoted(text: str) -> tuple[Span, ...]:
    spans = []
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 1
        spans.append(_trimmed(text, match.start(group), match.end(group)))
    return tuple(span for span in spans if span.text)
