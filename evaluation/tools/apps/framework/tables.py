"""Tables of immutable records. What a transaction touches can be put back as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from operator import is_
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from evaluation.tools.apps.framework.errors import AppDataError, NotFoundError

Key = int | str
Record = TypeVar("Record")


_adapters: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(record_type: type[Any]) -> TypeAdapter[Any]:
    """Making one takes longer than most calls of an app."""
    if record_type not in _adapters:
        _adapters[record_type] = TypeAdapter(tuple[record_type, ...])  # type: ignore[valid-type]
    return _adapters[record_type]


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
        self.fields = tuple(part.name for part in fields(record_type))  # type: ignore[arg-type]
        self.key = self.fields[0]
        self._rows: dict[Key, Record] = {}
        self._saved: dict[Key, Record] | None = None
        self._saved_last = 0
        self._touched: set[Key] = set()
        self._touch = touch
        self._adapter: TypeAdapter[tuple[Record, ...]] = _adapter(record_type)
        self._written: tuple[dict[Key, Record], bytes] | None = None
        """Rows, and what was written of them."""
        self.last = 0
        """The highest number ever given: numbers of deleted records are not used again."""

    def __iter__(self) -> Iterator[Record]:
        return iter(self._rows.values())

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
        self._rows[key] = record
        if isinstance(key, int) and key > self.last:
            self.last = key
        return record

    def remove(self, key: Key) -> None:
        """Raises NotFoundError."""
        self.get(key)
        self._save()
        self._touched.add(key)
        del self._rows[key]

    def _save(self) -> None:
        """A mapping of rows that others may have is never changed: only the copy of a transaction is."""
        if self._saved is None:
            self._saved, self._saved_last = self._rows, self.last
            self._rows = dict(self._rows)
            self._touch()

    def commit(self) -> list[tuple[Key, Record | None, Record | None]]:
        """Keys with what stood there before and what stands there now."""
        before = self._saved or {}
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
            records = self._adapter.validate_python(self._numbered(rows))
        except ValidationError as error:
            first = error.errors()[0]
            place = " ".join(str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"])
            raise AppDataError(f"{where}, {self.name}, record {place or '?'}: {first['msg']}.") from None
        self._rows = {}
        for record in records:
            key: Key = getattr(record, self.key)
            if key in self._rows:
                raise AppDataError(f"{where}, {self.name}: two records have the {self.key} {key!r}.")
            self._rows[key] = record
        self.last = max([last, *(key for key in self._rows if isinstance(key, int))])

    def share(self, other: Table[Record]) -> None:
        """Take over the content of ``other``, which costs nothing."""
        self._rows, self.last, self._written = other._rows, other.last, other._written

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
        """What was added at the end is written alone."""
        rows, written = self._rows, self._written
        if written is None or written[0] is not rows:
            records = tuple(rows.values())
            if (
                written
                and len(records) > (count := len(written[0])) > 0
                and all(map(is_, written[0].values(), records))
            ):
                added = self._adapter.dump_json(records[count:])
                text = b"".join((written[1][:-1], b",", added[1:]))
            else:
                text = self._adapter.dump_json(records)
            self._written = written = rows, text
        return written[1]

    def dangling(self, tables: Mapping[str, Table[Any]]) -> Iterator[str]:
        """Records that refer to others that are not there."""
        for record in self:
            for field, target in self.refers.items():
                value = getattr(record, field)
                for key in value if isinstance(value, tuple) else (value,):
                    if key not in (None, "") and key not in tables[target]:
                        name = getattr(record, self.key)
                        yield f"{self.name} {name!r}: there is no {tables[target].noun} {key!r} ({field})."
