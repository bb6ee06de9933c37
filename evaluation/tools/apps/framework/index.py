"""What makes thousands of records quick to look through: by words, by a field's value, in an order.

An index describes a table as it once was and never changes, so that all copies of the table share it. What a table
has changed since, it looks through one by one; when that is much, a new index is made.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import attrgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Key = int | str
Record = TypeVar("Record", bound="DataclassInstance")
Texts = Callable[[Any], tuple[str, ...]]
_WORD = re.compile(r"\w+")
_LAST = "\U0010ffff"


@lru_cache(maxsize=256)
def words_of(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(query.lower())))


def holds(wanted: Sequence[str], texts: tuple[str, ...]) -> bool:
    """Whether every word begins a word of ``texts``."""
    text = " ".join(texts).lower()
    if not all(word in text for word in wanted):
        return False
    words = " " + " ".join(_WORD.findall(text))
    return all(f" {word}" in words for word in wanted)


class TextIndex:
    def __init__(self, records: Sequence[Any], texts: Texts, beside: object) -> None:
        self.texts = texts
        self.beside = beside
        """What else the texts were made from."""
        self.first: list[str] = []
        """By position, in lower case."""
        places: dict[str, list[int]] = {}
        for position, record in enumerate(records):
            parts = texts(record)
            self.first.append(parts[0].lower())
            for word in set(_WORD.findall(" ".join(parts).lower())):
                places.setdefault(word, []).append(position)
        self._places = places
        self._words = sorted(places)

    def find(self, wanted: Sequence[str]) -> list[int]:
        """Positions of the records in which every word of ``wanted`` begins a word."""
        found: set[int] | None = None
        for word in sorted(wanted, key=len, reverse=True):
            begin, end = bisect_left(self._words, word), bisect_left(self._words, word + _LAST)
            here = set().union(*(self._places[each] for each in self._words[begin:end]))
            found = here if found is None else found & here
            if not found:
                break
        return sorted(found or ())


class TableIndex(Generic[Record]):
    """Each part is made when it is first asked for."""

    def __init__(self, rows: Mapping[Key, Record]) -> None:
        self.rows = rows
        self._positions: dict[Key, int] = {}
        self._words: dict[CodeType, TextIndex] = {}
        self._values: dict[str | CodeType, dict[Any, list[int]]] = {}
        self._orders: dict[CodeType, list[Record]] = {}

    @cached_property
    def records(self) -> list[Record]:
        return list(self.rows.values())

    def position(self, key: Key) -> int:
        if not self._positions:
            self._positions = {key: position for position, key in enumerate(self.rows)}
        return self._positions[key]

    def words(self, texts: Texts, beside: object) -> TextIndex:
        """``texts`` must look at nothing but the record and what ``beside`` holds, which is never changed in place."""
        index = self._words.get(texts.__code__)
        if index is None or index.beside is not beside:
            index = self._words[texts.__code__] = TextIndex(self.records, texts, beside)
        return index

    def having(self, field: str | Callable[[Record], Any], value: Any) -> list[int]:
        name, read = (field, attrgetter(field)) if isinstance(field, str) else (field.__code__, field)
        values = self._values.get(name)
        if values is None:
            values = {}
            for position, record in enumerate(self.records):
                values.setdefault(read(record), []).append(position)
            self._values[name] = values
        return values.get(value, [])

    def latest_first(self, key: Callable[[Record], Any]) -> list[Record]:
        code = key.__code__
        if code not in self._orders:
            self._orders[code] = sorted(self.records, key=key, reverse=True)
        return self._orders[code]
