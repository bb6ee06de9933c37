"""Tables of immutable records. What a transaction touches can be put back as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import Any, Generic

from pydantic import ValidationError

from evaluation.tools.apps.framework.errors import AppDataError, NotFoundError
from evaluation.tools.apps.framework.index import Key, Record, TableIndex, holds
from evaluation.tools.apps.framework.rows import RecordsSpan, Rows, SharedRecords, shape_of

MOST_CHANGES = 500
"""Records that may have changed since an index was made."""


class Table(Generic[Record]):
    """Records by key, which is their first field, in the order they were added."""

    def __init__(
        self, name: str, record_type: type[Record], noun: str, refers: Mapping[str, str], touch: Callable[[], None]
    ) -> None:
        self.name = name
        self.noun = noun
        """What one record is called in messages."""
        self.refers = refers
        """Field → the table whose keys it holds."""
        self.record_type = record_type
        parts = fields(record_type)
        self.fields = tuple(part.name for part in parts)
        self.key = self.fields[0]
        self._shape = shape_of(record_type)
        self._rows: Rows[Record] = Rows(SharedRecords(self._shape))
        self._saved: Rows[Record] | None = None
        self._saved_last = 0
        self._touched: set[Key] = set()
        self._touch = touch
        self._written: tuple[Rows[Record], bytes] | None = None
        """Rows, and what was written of them."""
        self._index: TableIndex[Record] = TableIndex(self._rows.shared)
        self.last = 0
        """The highest number ever given: numbers of deleted records are not used again."""

    @property
    def required(self) -> tuple[str, ...]:
        """Fields without a default."""
        return tuple(
            part.name
            for part in fields(self.record_type)
            if part.default is MISSING and part.default_factory is MISSING
        )

    def __iter__(self) -> Iterator[Record]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def find(self, key: Key) -> Record | None:
        return self._rows.get(key)

    def get(self, key: Key) -> Record:
        """Raises NotFoundError."""
        record = self._rows.get(key)
        if record is None:
            raise NotFoundError(f"There is no {self.noun} with {self.key} {key!r}.")
        return record

    def next_id(self) -> int:
        self._save()
        self.last += 1
        return self.last

    def put(self, record: Record) -> Record:
        """Add a record, or replace the one with its key."""
        key: Key = getattr(record, self.key)
        self._save()
        self._touched.add(key)
        self._rows.put(key, record)
        if isinstance(key, int) and key > self.last:
            self.last = key
        return record

    def remove(self, key: Key) -> None:
        """Raises NotFoundError."""
        self.get(key)
        self._save()
        self._touched.add(key)
        self._rows.remove(key)

    def _save(self) -> None:
        """Rows that others may have are never changed: only the copy of a transaction is."""
        if self._saved is None:
            self._saved, self._saved_last = self._rows, self.last
            self._rows = self._rows.copy()
            self._touch()

    def commit(self) -> list[tuple[Key, Record | None, Record | None]]:
        """Keys with what stood there before and what stands there now."""
        before = self._rows if self._saved is None else self._saved
        changes = [
            (key, before.get(key), self._rows.get(key))
            for key in sorted(self._touched, key=lambda key: (isinstance(key, str), key))
            if before.get(key) != self._rows.get(key)
        ]
        self.forget()
        return changes

    def forget(self) -> None:
        self._saved = None
        self._touched.clear()

    def roll_back(self) -> None:
        if self._saved is not None:
            self._rows, self.last = self._saved, self._saved_last
        self.forget()

    def load(self, rows: list[Any], last: int, where: str) -> None:
        """Replace the content. Records without a number get one. Raises AppDataError."""
        try:
            records = self._shape.all.validate_python(self._numbered(rows))
        except ValidationError as error:
            first = error.errors()[0]
            place = " ".join(str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"])
            raise AppDataError(f"{where}, {self.name}, record {place or '?'}: {first['msg']}.") from None
        found: dict[Key, Record] = {}
        for record in records:
            key: Key = getattr(record, self.key)
            if key in found:
                raise AppDataError(f"{where}, {self.name}: two records have the {self.key} {key!r}.")
            found[key] = record
        self.last = max([last, *(key for key in found if isinstance(key, int))])
        self._set_rows(Rows(SharedRecords(self._shape, found)))

    def load_section(self, section: RecordsSpan | None, last: int) -> None:
        """Replace the content by what ``to_json`` wrote; None: no records."""
        self.last = last
        self._set_rows(Rows(SharedRecords(self._shape, section=section)))

    def consolidate(self) -> None:
        """What the table holds now is what copies share an index of."""
        if self._rows.changed:
            self._set_rows(self._rows.consolidate(self._shape))

    def _set_rows(self, rows: Rows[Record]) -> None:
        self._rows, self._index = rows, TableIndex(rows.shared)

    def flaws(self, rows: Any) -> Iterator[tuple[int, str, str]]:
        """Why ``rows`` could not be loaded: row from 1, field, message."""
        if not isinstance(rows, list):
            yield 1, "", "This must be a list of records."
            return
        rows = self._numbered(rows)
        try:
            records = self._shape.all.validate_python(rows)
        except ValidationError as error:
            for problem in error.errors():
                place = problem["loc"]
                column = ".".join(map(str, place[1:2]))
                inside = ".".join(map(str, place[2:]))
                yield int(place[0]) + 1, column, f"{inside}: {problem['msg']}." if inside else f"{problem['msg']}."
            return
        first: dict[Key, int] = {}
        for row, record in enumerate(records, start=1):
            key: Key = getattr(record, self.key)
            if key in first:
                yield row, self.key, f"Row {first[key]} has {key!r} too; each {self.noun} has its own."
            first.setdefault(key, row)

    def share(self, other: Table[Record]) -> None:
        """Take over the content of ``other``, which costs nothing."""
        self._rows, self.last, self._written = other._rows, other.last, other._written
        self._index = other._index

    def matching(
        self, wanted: Sequence[str], texts: Callable[[Record], tuple[str, ...]], beside: Table[Any] | None = None
    ) -> list[tuple[Record, str]]:
        """The records in which every word begins a word, in the table's order, each with its first text in lower
        case. ``texts`` may look at nothing but the record and the table ``beside``."""
        index = self._indexed()
        words = index.words(texts, None if beside is None else beside._rows)
        return [
            (record, words.first[position] if position >= 0 else texts(record)[0].lower())
            for record, position in self._current(
                index, words.find(wanted), lambda record: holds(wanted, texts(record))
            )
        ]

    def having(self, field: str | Callable[[Record], Any], value: Any) -> list[Record]:
        """The records whose field, or what is made of the record alone, is ``value``, in the table's order."""
        index = self._indexed()
        read: Callable[[Record], Any] = attrgetter(field) if isinstance(field, str) else field
        found = self._current(index, index.having(field, value), lambda record: read(record) == value)
        return [record for record, _ in found]

    def latest_first(self, key: Callable[[Record], Any]) -> Iterator[Record]:
        """All records, those with the greatest ``key`` first; it may look at nothing but the record."""
        index = self._indexed()
        known: Iterator[Record] = iter(index.latest_first(key))
        rows = self._rows.changed
        if not rows:
            return known
        changed = sorted((record for record in rows.values() if record is not None), key=key, reverse=True)
        same = (record for record in known if getattr(record, self.key) not in rows)
        return merge(same, changed, key=key, reverse=True)

    def _indexed(self) -> TableIndex[Record]:
        if len(self._rows.changed) > MOST_CHANGES and self._saved is None:  # changes of a call may yet be undone
            self.consolidate()
        return self._index

    def _current(
        self, index: TableIndex[Record], positions: list[int], fits: Callable[[Record], bool]
    ) -> Iterator[tuple[Record, int]]:
        """Those at the index's ``positions`` that are still so, and those changed since that fit, each with its
        position; -1 for a changed one."""
        if not self._rows.changed:
            return ((index.records[position], position) for position in positions)
        changed: set[int] = set()
        replaced: dict[int, Record] = {}
        added: list[tuple[Record, int]] = []
        for key, record in self._rows.changed.items():
            fitting = record if record is not None and fits(record) else None
            if key in index.rows:
                changed.add(position := index.position(key))
                if fitting is not None:
                    replaced[position] = fitting
            elif fitting is not None:
                added.append((fitting, -1))
        here = sorted({*positions, *replaced}) if replaced else positions
        same = (
            (replaced[each], -1) if each in replaced else (index.records[each], each)
            for each in here
            if each in replaced or each not in changed
        )
        return chain(same, added)

    def _numbered(self, rows: list[Any]) -> list[Any]:
        if all(isinstance(row, dict) and self.key in row for row in rows):
            return rows
        used = {row[self.key] for row in rows if isinstance(row, dict) and isinstance(row.get(self.key), int)}
        free = max(used, default=0)
        out = []
        for row in rows:
            if isinstance(row, dict) and self.key not in row:
                free += 1
                row = {self.key: free, **row}
            out.append(row)
        return out

    def to_json(self) -> bytes:
        """What did not change since it was read is not written anew; there must be records."""
        if self._written is None or self._written[0] is not self._rows:
            self._written = self._rows, self._rows.section(self._shape)
        return self._written[1]

    @property
    def is_empty(self) -> bool:
        return not self._rows

    @property
    def opening(self) -> bytes:
        """How a list of its records begins in JSON of our own writing."""
        return b'"%s":[%s' % (self.name.encode(), self._shape.head)

    def dangling(self, tables: Mapping[str, Table[Any]]) -> Iterator[str]:
        """Records that refer to others that are not there."""
        for record in self:
            for field, message in self.dangling_of(record, tables):
                yield f"{self.name} {getattr(record, self.key)!r}: {message} ({field})."

    def dangling_of(self, record: Record, tables: Mapping[str, Table[Any]]) -> Iterator[tuple[str, str]]:
        """Fields of a record that refer to nothing, with what is missing."""
        for field, target in self.refers.items():
            value = getattr(record, field)
            for key in value if isinstance(value, tuple) else (value,):
                if key not in (None, "") and key not in tables[target]:
                    yield field, f"there is no {tables[target].noun} {key!r}"
