"""Index of the words of a text by sentence, including related words and synonyms."""

from __future__ import annotations

from collections import defaultdict

from studio.domain.bounded_cache import cached
from studio.domain.text.clauses import Span, sentences
from studio.domain.text.word_classes import SYNONYMS
from studio.domain.text.words import content_words

SAID = 0.75
"""Similarity above which a word counts as said."""
_KIN, _SYNONYM = 0.9, 0.8
_PREFIX = 5
_SPAN_BYTES, _KEY_BYTES, _NUMBER_BYTES = 180, 330, 40
"""Bytes of a sentence beside its text, of a key with its set, and of a number in a set, approximately."""


class WordIndex:
    __slots__ = ("_groups", "_keys", "_prefixes", "max_bytes", "sentences")

    def __init__(self, text: str) -> None:
        self.sentences: tuple[Span, ...] = sentences(text)
        self._keys: dict[str, set[int]] = defaultdict(set)
        self._groups: dict[int, set[int]] = defaultdict(set)
        self._prefixes: dict[str, list[str]] = defaultdict(list)
        word_iterator = iter(content_words(text))
        word = next(word_iterator, None)
        for number, span in enumerate(self.sentences):
            while word and word.start < span.end:
                self._keys[word.key].add(number)
                word = next(word_iterator, None)
        for key, numbers in self._keys.items():
            if len(key) >= _PREFIX and key[0] != "#":
                self._prefixes[key[:_PREFIX]].append(key)
            for group in SYNONYMS.get(key, ()):
                self._groups[group] |= numbers
        self.max_bytes = (
            sum(_SPAN_BYTES + len(span.text) for span in self.sentences)
            + sum(_KEY_BYTES + _NUMBER_BYTES * len(numbers) for numbers in self._keys.values())
            + sum(_KEY_BYTES + _NUMBER_BYTES * len(numbers) for numbers in self._groups.values())
            + _KEY_BYTES * len(self._prefixes)
        )
        """Approximate."""

    def of(self, key: str) -> dict[int, float]:
        """Similarity by number of sentence: 1 for the word itself, less for related words and synonyms."""
        matches: dict[int, float] = {}
        if key[:1] != "#":
            for group in SYNONYMS.get(key, ()):
                matches |= dict.fromkeys(self._groups.get(group, ()), _SYNONYM)
            for other in self._prefixes.get(key[:_PREFIX], ()):
                if abs(len(key) - len(other)) <= 3 and (key.startswith(other) or other.startswith(key)):
                    matches |= dict.fromkeys(self._keys[other], _KIN)
        return matches | dict.fromkeys(self._keys.get(key, ()), 1.0)

    def has(self, key: str) -> float:
        """The greatest similarity in any sentence."""
        if key in self._keys:
            return 1.0
        if key[:1] == "#":
            return 0.0
        for other in self._prefixes.get(key[:_PREFIX], ()):
            if abs(len(key) - len(other)) <= 3 and (key.startswith(other) or other.startswith(key)):
                return _KIN
        groups = SYNONYMS.get(key)
        return _SYNONYM if groups and not groups.isdisjoint(self._groups) else 0.0


@cached(12_000_000, size_of=lambda index: index.max_bytes)
def word_index(text: str) -> WordIndex:
    return WordIndex(text)
