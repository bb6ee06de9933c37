"""Blanks out embedded data in prose, and detects negation."""

from __future__ import annotations

import re

from studio.domain.caching import cached
from studio.domain.text.word_classes import FUNCTION, NEGATIVE
from studio.domain.text.words import words

_KEY = re.compile(r"\"[\w -]+\"\s*:")
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")
_SECRET = re.compile(r"\bpassword(?:\s+is)?\s*:?\s*['\"“‘](?P<secret>\S+?)['\"”’](?=[\s.,;)]|$)", re.IGNORECASE)
_LEAVE_OUT = re.compile(r"\b(?:leav(?:e|es|ing)|left|keep|keeps|kept|cut|cross) (?:\w+ ){0,5}out\b", re.IGNORECASE)
_HARMLESS = re.compile(r"\b(?:no|not) (?:more|less|later|earlier|fewer|only|longer|just|doubt)\b", re.IGNORECASE)


def is_negative(text: str) -> bool:
    text = _HARMLESS.sub(" ", text)
    return _LEAVE_OUT.search(text) is not None or any(
        word.text.casefold().replace("’", "'") in NEGATIVE for word in words(text)
    )


@cached
def without_data(text: str) -> str:
    """The text with passwords and structured data (except long strings in it) replaced by spaces; positions are
    preserved."""
    text = _SECRET.sub(_blank, text)
    if len(_KEY.findall(text)) < 3:
        return text
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or end <= start:
        return text
    characters = [" "] * (end - start)
    for string in _STRING.finditer(text, start, end):
        string_words = string[1].casefold().split()
        if len(string_words) >= 6 and not FUNCTION.isdisjoint(string_words):
            characters[string.start(1) - start : string.end(1) - start] = string[1]
    return text[:start] + "".join(characters) + text[end:]


def _blank(match: re.Match[str]) -> str:
    start, end = (position - match.start() for position in match.span("secret"))
    return match[0][:start] + " " * (end - start) + match[0][end:]
