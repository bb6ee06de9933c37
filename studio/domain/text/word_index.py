"""Which words a text has, in all and by sentence, including related words and synonyms."""

from __future__ import annotations

from collections import defaultdict

from studio.domain.caching import cached
from studio.domain.text.clauses import Span, sentences
from studio.domain.text.word_classes import SYNONYMS
from studio.domain.text.words import content_words

SAID = 0.75
"""Similarity above which a word counts as said; related words and synonyms do."""
_KIN, _SYNONYM = 0.9, 0.8
PREFIX = 5
"""Letters at least that forms of one word have in common."""
_NO_GROUPS: frozenset[int] = frozenset()
_ROUNDING = 1e-9
"""More than the sums of weights are off."""


class Vocabulary:
    """The content words of a text, ready to be compared with those of another."""

    __slots__ = ("_groups", "_prefixes", "keys", "weight", "words")

    def __init__(self, text: str) -> None:
        groups_of = SYNONYMS.get
        self.words = [
            (key, weight, key[:PREFIX], groups_of(key, _NO_GROUPS)) for _, _, _, key, _, weight in content_words(text)
        ]
        """Key, weight, beginning and synonym groups of each word, in the order of the text."""
        self.weight: float = sum([word[1] for word in self.words])
        self.keys = frozenset([word[0] for word in self.words])
        self._groups = _NO_GROUPS.union(*[word[3] for word in self.words])
        prefixes: dict[str, list[str]] = {}
        for key, _, prefix, _ in self.words:
            if len(prefix) == PREFIX and prefix[0] != "#":
                if prefix not in prefixes:
                    prefixes[prefix] = [key]
                elif key not in prefixes[prefix]:
                    prefixes[prefix].append(key)
        self._prefixes = prefixes

    def has(self, key: str) -> float:
        """The greatest similarity to any word."""
        if key in self.keys:
            return 1.0
        if key[:1] == "#":
            return 0.0
        if (others := self._prefixes.get(key[:PREFIX])) and _has_kin(key, others):
            return _KIN
        groups = SYNONYMS.get(key)
        return _SYNONYM if groups and not groups.isdisjoint(self._groups) else 0.0

    def share_of(self, demand: Vocabulary) -> float:
        """Share of the demand's words, by weight, that are here."""
        return self._matched(demand, demand.weight) / demand.weight if demand.weight else 0.0

    def reaches(self, least: float, demand: Vocabulary) -> bool:
        """Whether ``share_of`` is at least this; the rest is not read once too much is missing."""
        if not demand.weight:
            return least <= 0
        return self._matched(demand, demand.weight * (1 - least)) / demand.weight >= least

    def _matched(self, demand: Vocabulary, most_missing: float) -> float:
        """Weight of the demand's words that are here; less than nothing once words of more weight than
        ``most_missing`` are not."""
        keys, prefixes, text_groups, matched = self.keys, self._prefixes, self._groups, 0.0
        left = most_missing + _ROUNDING
        for key, weight, prefix, groups in demand.words:
            if key in keys:
                matched += weight
            elif prefix in prefixes and _has_kin(key, prefixes[prefix]):
                matched += weight * _KIN
            elif groups and not groups.isdisjoint(text_groups):
                matched += weight * _SYNONYM
            else:
                left -= weight
                if left < 0:
                    return -1.0
        return matched


def _has_kin(key: str, others: list[str]) -> bool:
    return any(abs(len(key) - len(other)) <= 3 and (key.startswith(other) or other.startswith(key)) for other in others)


@cached
def vocabulary(text: str) -> Vocabulary:
    return Vocabulary(text)


class WordIndex:
    """The words of a text by sentence."""

    __slots__ = ("_groups", "_keys", "_prefixes", "sentences")

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
            if len(key) >= PREFIX and key[0] != "#":
                self._prefixes[key[:PREFIX]].append(key)
            for group in SYNONYMS.get(key, ()):
                self._groups[group] |= numbers

    def has(self, key: str) -> bool:
        """Whether the text has the word itself."""
        return key in self._keys

    def of(self, key: str) -> dict[int, float]:
        """Similarity by number of sentence: 1 for the word itself, less for related words and synonyms."""
        matches: dict[int, float] = {}
        if key[:1] != "#":
            for group in SYNONYMS.get(key, ()):
                if group in self._groups:
                    matches |= dict.fromkeys(self._groups[group], _SYNONYM)
            for other in self._prefixes.get(key[:PREFIX], ()):
                if abs(len(key) - len(other)) <= 3 and (key.startswith(other) or other.startswith(key)):
                    matches |= dict.fromkeys(self._keys[other], _KIN)
        if key in self._keys:
            matches |= dict.fromkeys(self._keys[key], 1.0)
        return matches


@cached
def word_index(text: str) -> WordIndex:
    return WordIndex(text)
