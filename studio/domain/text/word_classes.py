"""Word lists: function words, words with little meaning in instructions, synonyms, phrases."""

from __future__ import annotations

from studio.domain.text.stems import read_lines, stem


def _classes() -> dict[str, list[str]]:
    """As written, by class."""
    classes: dict[str, list[str]] = {}
    for line in read_lines("word_classes.txt"):
        if line.startswith("["):
            words = classes.setdefault(line.strip("[]"), [])
        else:
            words += line.split()
    return classes


_CLASSES = _classes()
FUNCTION, NEGATIVE = (frozenset(_CLASSES[name]) for name in ("function", "negative"))
"""As written, in lower case."""
FRAME, GENERIC, COMMON, LIGHT = (
    frozenset(map(stem, _CLASSES[name])) for name in ("frame", "generic", "common", "light")
)
"""Stems."""


def _synonyms() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, line in enumerate(read_lines("thesaurus.txt")):
        for word in line.split():
            groups.setdefault(stem(word), set()).add(number)
    return {key: frozenset(numbers) for key, numbers in groups.items()}


SYNONYMS = _synonyms()
"""Synonym groups by stem; stems that share a group are synonyms."""


def _phrases() -> dict[tuple[str, ...], list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    phrases: dict[tuple[str, ...], list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for line in read_lines("phrases.txt"):
        phrase, _, meaning = line.partition(" -> ")
        keys = tuple(stem(word) for word in phrase.split())
        phrases.setdefault(keys[:2], []).append((keys, tuple(meaning.split())))
    return phrases


PHRASES = _phrases()
"""By the first two keys of a phrase (or its only one): the keys of the phrase and the words it stands for."""
OPENERS = frozenset(keys[0] for keys in PHRASES)
