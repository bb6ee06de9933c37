"""Vague evaluative wording, such as “professional” or “as appropriate”."""

from __future__ import annotations

import re

from studio.domain.caching import cached
from studio.domain.text.words import content_words

_VAGUE = (
    r"\b(?:better|best practices?|high[- ]quality|good quality|professional(?:ly)?"
    r"|appropriate(?:ly)?|suitabl[ey]|adequate(?:ly)?"
    r"|proper(?:ly)?|nice(?:ly)?|user-friendly|as (?:needed|necessary|appropriate)|and so on"
    r"|etc\.?|in general|well[- ](?:written|made"
    r"|structured|done)|polished|comprehensive(?:ly)?|thorough(?:ly)?|reasonabl[ey]|helpful|useful"
    r"|deep(?:ly)?|in-depth|detailed"
    r"|nuanced|good|great|excellent|perfect|relevant|meaningful|engaging|compelling|interesting|superficial)\b"
)
VAGUE = re.compile(_VAGUE, re.IGNORECASE)
_LOWER = re.compile(_VAGUE)
"""A third of the time; in ASCII, a text has a vague phrase if it has one in small letters."""
MIN_REST = 2.5
"""A sentence whose other words weigh at least this much is specific enough."""


@cached
def vague_phrase(text: str) -> str:
    """The vague phrase of a text that says little else; empty if there is none."""
    text = text[:2_000]
    if text.isascii() and not _LOWER.search(text.lower()):
        return ""
    match = VAGUE.search(text)
    if match is None or sum(word.weight for word in content_words(VAGUE.sub(" ", text))) >= MIN_REST:
        return ""
    return match[0]
