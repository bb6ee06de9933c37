"""Praise that two people weigh differently, and how much else a sentence says."""

from __future__ import annotations

import re

from studio.domain.text.words import content_words

VAGUE = re.compile(
    r"\b(?:better|best practices?|high[- ]quality|good quality|professional(?:ly)?"
    r"|appropriate(?:ly)?|suitabl[ey]|adequate(?:ly)?"
    r"|proper(?:ly)?|nice(?:ly)?|user-friendly|as (?:needed|necessary|appropriate)|and so on"
    r"|etc\.?|in general|well[- ](?:written|made"
    r"|structured|done)|polished|comprehensive(?:ly)?|thorough(?:ly)?|reasonabl[ey]|helpful|useful"
    r"|deep(?:ly)?|in-depth|detailed"
    r"|nuanced|good|great|excellent|perfect|relevant|meaningful|engaging|compelling|interesting|superficial)\b",
    re.IGNORECASE,
)
REST = 2.5
"""A sentence that says at least about this many definite words more is held by those."""


def vague_phrase(text: str, *, rest: float = REST) -> str:
    """The praise that is nearly all a sentence says; empty: there is none, or more."""
    text = text[:2_000]
    found = VAGUE.search(text)
    if found is None or sum(word.weight for word in content_words(VAGUE.sub(" ", text))) >= rest:
        return ""
    return found[0]
