"""How much of what one text demands another text already says, clause by clause."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from studio.spec.text.clauses import Span, clauses, quoted, sentences
from studio.spec.text.kinds import NEGATIVE, SYNONYMS
from studio.spec.text.words import Word, content, words

SAID = 0.75
"""From here on a word counts as said."""
ABOUT = 0.45
"""Weight of what a demand is about, against what it asks for."""
ASIDE = 0.3
"""Weight of what it contrasts that with, and of examples."""
_PREFIX = 5
_LEAD_IN = re.compile(r"\s*(?:In|On|At|For|After|Before|When|Within|Throughout|Where|If|Once|During)\b[^,;:]{3,120},")
_SUBJECT = re.compile(
    r"\s*(?:[^\s,;:]+\s+){1,9}?(?=(?:[a-z]+ly\s+)?(?:must|should|shall|has|have|needs?|is|are|will|can|cannot|may|says?|states?|gives?"
    r"|names?|includes?|contains?|starts?|begins?|ends?|opens?|closes?|shows?|lists?|mentions?|uses?|covers?|explains?"
    r"|identifies|identify|provides?|stays?|keeps?|comes?|goes|describes?|addresses|integrates?|presents?|asks?|makes?"
    r"|avoids?|announces?|introduces?|incorporates?)\b)"
)
_CONTRAST = re.compile(r",?\s*(?:rather than|instead of|without|while|so that|so there|so the)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"\(?(?:such as|e\.g\.|for example|for instance|like)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the demanding text and what is said of it elsewhere."""

    span: Span
    weight: float
    """Of its words together."""
    said: float
    """Share of that weight that the other text has, at its best place: 0 to 1."""
    place: Span
    """That place in the other text."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a text says of a demand."""

    clauses: tuple[Clause, ...]
    near: float
    """Share of the whole demand said, each clause at its best place: 0 to 1."""
    linked: float
    """Share of neighbouring pairs of the demand's words that are neighbours in the text, too."""
    missing: tuple[Word, ...]
    """Words of the demand that the text has nowhere."""
    shared_quotes: int
    """Quoted words of the demand that the text has, too."""
    missing_facts: tuple[str, ...]
    """Numbers and quoted words of the demand that the text has nowhere."""

    @property
    def weight(self) -> float:
        return sum(clause.weight for clause in self.clauses)


@lru_cache(maxsize=8_000)
def coverage(demand: str, text: str, topic: frozenset[str] = frozenset()) -> Coverage:
    """``topic`` are keys that go without saying in this task: they count half."""
    own = content(demand)
    weights = _weights(demand, own, topic)
    text_words = _bag(text)
    found = []
    for span in clauses(demand):
        inside = [(word, weights[word.start]) for word in own if span.start <= word.start < span.end]
        if weight := sum(each for _, each in inside):
            found.append(_best_place(span, inside, weight, text))
    weight = sum(clause.weight for clause in found)
    missing = tuple(word for word in own if text_words.has(word.key) < SAID)
    lower = " ".join(text.casefold().split())
    facts = [word.text for word in missing if word.kind == "number"]
    quotes = [" ".join(span.text.casefold().split()).strip(" .,;") for span in quoted(demand)]
    facts += [quote for quote in quotes if quote not in lower]
    return Coverage(
        clauses=tuple(found),
        near=sum(clause.said * clause.weight for clause in found) / weight if weight else 0.0,
        linked=_linked(own, text),
        missing=missing,
        shared_quotes=sum(quote in lower for quote in quotes if quote),
        missing_facts=tuple(facts),
    )


_LEFT_OUT = re.compile(r"\b(?:leav(?:e|es|ing)|left|keep|keeps|kept|cut|cross) (?:\w+ ){0,5}out\b", re.IGNORECASE)
_HARMLESS = re.compile(r"\b(?:no|not) (?:more|less|later|earlier|fewer|only|longer|just|doubt)\b", re.IGNORECASE)


@lru_cache(maxsize=8_000)
def anywhere(demand: str, text: str) -> float:
    """Share of a demand's words that the text has somewhere: quick, to leave out what need not be read closely."""
    own, there = content(demand), _bag(text)
    weight = sum(word.weight for word in own)
    return sum(word.weight * there.has(word.key) for word in own) / weight if weight else 0.0


def negative(text: str) -> bool:
    """Whether a clause forbids or denies."""
    text = _HARMLESS.sub(" ", text)
    return _LEFT_OUT.search(text) is not None or any(
        word.text.casefold().replace("’", "'") in NEGATIVE for word in words(text)
    )


@lru_cache(maxsize=500)
def prose(text: str) -> str:
    """The text with structured data blanked out, but for its long strings; every place stays where it was."""
    if len(_KEY.findall(text)) < 3:
        return text
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or end <= start:
        return text
    kept = [" "] * (end - start)
    for string in _STRING.finditer(text, start, end):
        if len(string[1].split()) >= 6:
            kept[string.start(1) - start : string.end(1) - start] = string[1]
    return text[:start] + "".join(kept) + text[end:]


_KEY = re.compile(r"\"[\w -]+\"\s*:")
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")


class _Bag:
    """The content words of a stretch of text, ready to be asked for."""

    __slots__ = ("groups", "keys", "prefixes")

    def __init__(self, found: Sequence[Word]) -> None:
        self.keys = {word.key for word in found}
        self.prefixes: dict[str, list[str]] = {}
        self.groups: set[int] = set()
        for key in self.keys:
            if len(key) >= _PREFIX and key[0] != "#":
                self.prefixes.setdefault(key[:_PREFIX], []).append(key)
            self.groups |= SYNONYMS.get(key, frozenset())

    def has(self, key: str) -> float:
        """1 the word itself, less for kin and synonyms, 0 nothing of the sort."""
        if key in self.keys:
            return 1.0
        if key[:1] == "#":
            return 0.0
        for other in self.prefixes.get(key[:_PREFIX], ()):
            if abs(len(key) - len(other)) <= 3 and (key.startswith(other) or other.startswith(key)):
                return 0.9
        groups = SYNONYMS.get(key)
        return 0.8 if groups and not groups.isdisjoint(self.groups) else 0.0


def is_aside(clause: str) -> bool:
    """Whether a clause only says what is not meant, or what for."""
    return _CONTRAST.match(clause) is not None


def _weights(demand: str, own: Sequence[Word], topic: frozenset[str]) -> dict[int, float]:
    """By place. What a demand is about, contrasts with or gives as an example counts less than what it asks for."""
    weights = {word.start: word.weight * (0.5 if word.key in topic else 1.0) for word in own}
    for span in clauses(demand):
        lead = _LEAD_IN.match(demand, span.start, span.end)
        begin = lead.end() if lead else span.start
        subject = _SUBJECT.match(demand, begin, span.end)
        aside = subject.end() if subject else begin
        contrast = _CONTRAST.match(demand, span.start, span.end)
        example = _EXAMPLE.search(demand, span.start, span.end)
        inside = [word for word in own if span.start <= word.start < span.end]
        asked = sum(weights[word.start] for word in inside if word.start >= aside)
        for word in inside:
            if asked >= 1 and word.start < aside:
                weights[word.start] *= ABOUT
            if contrast or (example and word.start >= example.start()):
                weights[word.start] *= ASIDE
    return weights


def _best_place(span: Span, inside: Sequence[tuple[Word, float]], weight: float, text: str) -> Clause:
    best, where = 0.0, Span("", 0, 0)
    for place, bag in _places(text):
        said = sum(each * bag.has(word.key) for word, each in inside) / weight
        if said > best + 0.001:
            best, where = said, place
    return Clause(span, weight, min(best, 1.0), where)


@lru_cache(maxsize=500)
def _places(text: str) -> tuple[tuple[Span, _Bag], ...]:
    """Sentences, and each sentence with the next one."""
    found = iter(content(text))
    word = next(found, None)
    parts: list[tuple[Span, list[Word]]] = []
    for span in sentences(text):
        inside = []
        while word and word.start < span.end:
            inside.append(word)
            word = next(found, None)
        parts.append((span, inside))
    pairs = [
        (Span(text[one.start : other.end], one.start, other.end), [*first, *second])
        for (one, first), (other, second) in itertools.pairwise(parts)
    ]
    return tuple((span, _Bag(found)) for span, found in (*parts, *pairs))


@lru_cache(maxsize=500)
def _bag(text: str) -> _Bag:
    return _Bag(content(text))


@lru_cache(maxsize=500)
def _followers(text: str) -> dict[str, _Bag]:
    there = content(text)
    after: dict[str, list[Word]] = {}
    for index, word in enumerate(there):
        after.setdefault(word.key, []).extend(there[index + 1 : index + 3])
    return {key: _Bag(found) for key, found in after.items()}


def _linked(own: Sequence[Word], text: str) -> float:
    pairs = list(itertools.pairwise(own))
    followers = _followers(text)
    hits = sum(one.key in followers and followers[one.key].has(other.key) >= SAID for one, other in pairs)
    return hits / len(pairs) if pairs else 0.0
