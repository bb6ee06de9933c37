"""Text comparison for the scripted model, by roughly stemmed content words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?。！？]+(?=\s|$|[\"')\]])|[。！？]|\n|$|[.!?](?=\S))")


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP = _word_set("""
    a an and any are as at be been being both but by can could do does for from had has have he her his how i if in
    into is it its just like may me more most my no nor not of on or other our out over own she should so some such than
    that the their them then there these they this those to too under up us very was we were what when where which while
    who whom why will with would you your yours also all each every only must shall about after before between during
    via per within without however therefore please need needs want wants""")
_COMMON = _word_set("""
    answer assistant clear clearly contain contains content deliver deliverable document draft explicit explicitly
    file final generate given include included includes including mention mentioned mentions output overall present
    produce provide provided provides reply respond response result show shows state stated states text use used user
    uses using write written""")
"""Words that requests and criteria share, and that distinguish nothing."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    for ending, min_length in (
        ("ations", 4),
        ("ation", 4),
        ("ings", 4),
        ("ing", 4),
        ("ies", 3),
        ("ied", 3),
        ("edly", 4),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= min_length:
            return word[: -len(ending)]
    for ending in ("ed", "es", "ly", "er", "or", "al", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP and word not in _COMMON]


def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text))


def word_overlap(wanted: frozenset[str], present: frozenset[str]) -> float:
    """The share of ``wanted`` in ``present``; 0 if ``wanted`` is empty."""
    return len(wanted & present) / len(wanted) if wanted else 0.0


def sentences(text: str) -> list[str]:
    return [piece for match in _SENTENCE.finditer(text) if len(piece := match.group().strip()) > 1]


def best_sentence(wanted: frozenset[str], candidates: Iterable[tuple[str, frozenset[str]]]) -> str:
    """The sentence with the most stems in ``wanted``, the first of equals; empty if none has any."""
    best, best_count = "", 0
    for sentence, present in candidates:
        shared = len(wanted & present)
        if shared > best_count:
            best, best_count = sentence, shared
    return best
