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
MIN_ENTROPY = 3.6
"""Bits per character above which a string counts as random; names are below."""


_ANY_KEY = re.compile(r"[\w+/=-]{13}|-----BEGIN ")
"""Is in everything that KEYS and TOKEN find."""


def keys(text: str) -> Iterator[str]:
    if not _ANY_KEY.search(text):
        return
    if match := KEYS.search(text):
        yield match[0]
    for match in TOKEN.finditer(text):
        if _entropy(match["token"]) >= MIN_ENTROPY and any(letter.isdigit() for letter in match["token"]):
            yield match["token"]


def _entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
