"""Access keys."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

KEYS = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,200}\b"
    r"|\b(?:ghp|gho|ghs|ghu|glpat|xox[abps])[-_][A-Za-z0-9_-]{16,200}\b"
    r"|\bgithub_pat_\w{20,200}\b|\bAKIA[A-Z0-9]{16}\b|\bAIza[\w-]{35}\b"
    r"|\bey[JI][\w-]{10,2000}\.[\w-]{10,2000}\.[\w-]{5,2000}"
    r"|-----BEGIN (?:[A-Z]{1,20} ){0,5}PRIVATE KEY-----"
)
TOKEN = re.compile(
    r"\b(?:api[-_ ]?key|secret|access[-_ ]?token|auth[-_ ]?token|bearer|client[-_ ]?secret)\b"
    r"[\"']?\s*(?:is|[:=])?\s*[\"'`]?(?P<token>[A-Za-z0-9+/_=-]{20,500})",
    re.IGNORECASE,
)
RANDOM = 3.6
"""Bits a letter from which on a string is drawn and not a word: names of things stay below."""


def keys(text: str) -> Iterator[str]:
    if found := KEYS.search(text):
        yield found[0]
    for found in TOKEN.finditer(text):
        if _entropy(found["token"]) >= RANDOM and any(letter.isdigit() for letter in found["token"]):
            yield found["token"]


def _entropy(text: str) -> float:
    """Bits a letter (Shannon)."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
