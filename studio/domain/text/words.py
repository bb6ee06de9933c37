"""Splits text into words with positions, keys and weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from studio.domain.caching import cached
from studio.domain.text.stems import stem
from studio.domain.text.word_classes import COMMON, FRAME, FUNCTION, GENERIC, LIGHT, OPENERS, PHRASES, SYNONYMS

WordKind = Literal["word", "number", "name", "file"]

_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""".split()
    )
} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
    "thousand": 1_000,
}
_UNITS, _TENS = ("|".join(word for word, n in _NUMBER_WORDS.items() if low <= n <= 90) for low in (1, 20))
_BELOW_100 = rf"(?:(?:{_TENS})[\s-])?(?:{_UNITS})"
_SPELT = re.compile(
    rf"{_BELOW_100}\s(?:hundred|thousand)\b(?:\s(?:and\s)?{_BELOW_100}\b)?|(?:{_TENS})[\s-](?:{_UNITS})\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?![\s,;()\"])(?:"  # nothing below begins with these
    r"[A-Za-z]++(?![\w.@/+%:'’-])"  # most words: quickly, and nothing below could begin there
    r"|(?<![\w.+%-])[\w.+%-]++@[\w-]+(?:\.[\w-]+)+"
    r"|https?://[^\s\"'<>]+"
    r"|(?<![\w/-])[\w-]++(?:/[\w-]++){0,12}+\.(?:md|txt|csv|tsv|json|ya?ml|pdf|docx?|xlsx?|pptx?|png|jpe?g|html?|py|sh|log|eml|ics|zip)\b"
    r"|\d+(?:[.,:/-]\d+)*(?:[kK]\b|\s?(?:thousand|million|billion)\b)?"
    r"|[€£$¥%]"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|(?:[eE]\.g|[iI]\.e|[pPaA]\.m)\."
    r"|[^\W\d_]+(?:['’][^\W\d_]+)*)"
)


class Word(NamedTuple):
    """A word at ``start:end`` of its text. ``key`` is the same for equal words: a stem, or a number's value."""

    text: str
    start: int
    end: int
    key: str
    kind: WordKind
    weight: float
    """Strength as evidence when shared: 0 for function words, above 1 for numbers and names."""


def words(text: str) -> tuple[Word, ...]:
    return _read_words(text)[0]


def content_words(text: str) -> tuple[Word, ...]:
    return _read_words(text)[1]


@cached
def _read_words(text: str) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """All words, and those with a weight."""
    result: list[Word] = []
    new = tuple.__new__
    last_end = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if start < last_end:
            continue
        token = match[0]
        key, kind, weight = _read(token, token[0].isupper() and _opens_sentence(text, start))
        if kind == "number" and token.isalpha() and (spelt := _SPELT.match(text, start)):
            token, end = spelt[0], spelt.end()
            key, kind, weight = _read(token, True)
        result.append(new(Word, (token, start, end, key, kind, weight)))  # in half the time of Word(…)
        last_end = end
    found = tuple(_with_phrases(result))
    return found, tuple([word for word in found if word[5] > 0])


def _with_phrases(result: list[Word]) -> list[Word]:
    """Replace phrases by their meaning (“looked over” by “reviewed”): the first words get the keys of the meaning, the
    others weight 0."""
    index, last = 0, len(result) - 1
    while index <= last:
        key = result[index].key
        if key in OPENERS:
            after = result[index + 1].key if index < last else ""
            for phrase, meaning in (*PHRASES.get((key, after), ()), *PHRASES.get((key,), ())):
                if tuple(word.key for word in result[index : index + len(phrase)]) == phrase:
                    for offset, _ in enumerate(phrase):
                        word = result[index + offset]
                        read = _read(meaning[offset], True) if offset < len(meaning) else ("", "word", 0.0)
                        result[index + offset] = Word(word.text, word.start, word.end, *read)
                    index += len(phrase) - 1
                    break
        index += 1
    return result


@lru_cache(50_000)
def _read(token: str, opens: bool) -> tuple[str, WordKind, float]:
    """Key, kind and weight of a token. A capital does not make a name if the token ``opens`` a sentence."""
    lower = token.casefold().replace("’", "'")
    if token[0].isdigit():
        key = f"#{_plain_number(lower)}"
        return key, "number", 0.6 if key in ("#0", "#1", "#2") else 1.2
    if lower in _NUMBER_WORDS:
        return f"#{_NUMBER_WORDS[lower]}", "number", 0.6 if _NUMBER_WORDS[lower] <= 2 else 1.2
    if (
        not token.isalpha()
        and (parts := [part for part in re.split(r"[\s-]+", lower) if part != "and"])
        and all(part in _NUMBER_WORDS for part in parts)
    ):
        return f"#{_spelt(parts)}", "number", 1.2
    if lower in ("e.g.", "i.e.", "a.m.", "p.m."):
        return lower, "word", 0.0
    if "@" in token or "." in token.rstrip(".") or "/" in token:
        return lower, "file", 1.0
    key = stem(token)
    kind: WordKind = "name" if token[0].isupper() and not opens else "word"
    if lower in FUNCTION or key in FRAME:
        return key, kind, 0.0
    if key in LIGHT:
        return key, kind, 0.2
    if key in GENERIC:
        return key, kind, 0.4
    if key in COMMON and kind == "word":
        return key, kind, 0.7
    return key, kind, 1.15 if kind == "name" else 1.0


def _spelt(parts: Sequence[str]) -> int:
    """“eight hundred and fifty” is 850."""
    total, current = 0, 0
    for value in (_NUMBER_WORDS[part] for part in parts):
        if value < 100:
            current += value
        elif value == 100:
            current = max(current, 1) * 100
        else:
            total, current = total + max(current, 1) * value, 0
    return total + current


_THOUSANDS = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9}


def _plain_number(token: str) -> str:
    if match := re.fullmatch(r"([\d.,]+?)\s?(k|thousand|million|billion)", token):
        plain = _plain_number(match[1])
        return f"{float(plain) * _THOUSANDS[match[2]]:.0f}" if re.fullmatch(r"\d+(?:\.\d+)?", plain) else token
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", token):
        token = token.replace(",", "")
    if re.fullmatch(r"\d+\.0+|\d+:00", token):
        token = re.split(r"[.:]", token)[0]
    return token


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 4) : start].rstrip(" \t\"'“‘(*-#")
    return not before or before[-1] in ".!?:;\n•"


def similarity(key: str, other: str) -> float:
    """Similarity of two keys: 1 if equal, less for related words and synonyms, 0 otherwise."""
    if key == other:
        return 1.0
    if key[:1] == "#" or other[:1] == "#":
        return 0.0
    shorter, longer = sorted((key, other), key=len)
    if len(shorter) >= 5 and longer.startswith(shorter) and len(longer) - len(shorter) <= 3:
        return 0.9
    groups = SYNONYMS.get(key)
    if groups and not groups.isdisjoint(SYNONYMS.get(other, ())):
        return 0.8
    return 0.0
