"""Tables of immutable records: a dict each, which a transaction copies before it changes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from evaluation.tools.apps.framework.errors import AppDataError, NotFoundError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Key = int | str
Record = TypeVar("Record", bound="DataclassInstance")
OWNED = {"owner": "accounts"}
"""What a table of people's own records refers to."""
DATED = ("created_at", "sent_at", "placed_at", "added_at", "viewed_at")
"""Fields that say since when a record exists; a table has one of them at most."""
Kept = dict[str, tuple[dict[Key, Any], int]]
"""Table → its records and highest number as a transaction found them."""


class Table(Generic[Record]):
    """Records by key, which is their first field, in the order they were added. In the body of a state's class it
    declares the table of this name, which every state of the class has as its own."""

    def __init__(
        self,
        record_type: type[Record],
        noun: str,
        columns: str = "",
        refers: Mapping[str, str] | None = None,
    ) -> None:
        self.name = ""
        self.record_type = record_type
        self.noun = noun
        """What one record is called in messages."""
        self.columns = tuple(columns.split())
        """The fields that people see, the first as the record's name; none: nobody needs to see the table."""
        self.refers: Mapping[str, str] = refers or {}
        """Field → the table whose keys it holds."""
        self.fields = tuple(part.name for part in fields(record_type))
        self.key = self.fields[0]
        self.dated = next((name for name in DATED if name in self.fields), "")
        """The field that says since when a record exists; empty if none does."""
        self.records: dict[Key, Record] = {}
        self.later: dict[Key, Record] = {}
        """Those that do not exist yet."""
        self.last = 0
        """The highest number ever given: numbers of deleted records are not used again."""
        self._kept: Kept = {}

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def empty(self, kept: Kept) -> Table[Record]:
        """One like it, of a state that notes in ``kept`` what a transaction changes."""
        table = copy(self)
        table.records, table.later, table._kept = {}, {}, kept
        return table

    @property
    def required(self) -> tuple[str, ...]:
        """Fields without a default."""
        return tuple(
            part.name
            for part in fields(self.record_type)
            if part.default is MISSING and part.default_factory is MISSING
        )

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records.values())

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, key: object) -> bool:
        return key in self.records

    def find(self, key: Key) -> Record | None:
        return self.records.get(key)

    def get(self, key: Key) -> Record:
        """Raises NotFoundError."""
        record = self.records.get(key)
        if record is None:
            raise NotFoundError(f"There is no {self.noun} with {self.key} {key!r}.")
        return record

    def having(self, field: str, value: Any) -> list[Record]:
        """The records whose field is ``value``."""
        return [record for record in self if getattr(record, field) == value]

    def next_id(self) -> int:
        self._keep()
        self.last += 1
        return self.last

    def put(self, record: Record) -> Record:
        """Add a record, or replace the one with its key."""
        key: Key = getattr(record, self.key)
        self._keep()
        self.records[key] = record
        if isinstance(key, int) and key > self.last:
            self.last = key
        return record

    def remove(self, key: Key) -> None:
        """Raises NotFoundError."""
        self.get(key)
        self._keep()
        del self.records[key]

    def _keep(self) -> None:
        if self.name not in self._kept:
            self._kept[self.name] = self.records, self.last
            self.records = dict(self.records)

    def load(self, rows: list[Any], last: int, where: str) -> None:
        """Replace the content. Records without a number get one. Raises AppDataError."""
        try:
            records = _adapter(self.record_type).validate_python(self._numbered(rows))
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
        self.records, self.later = found, {}
        self.last = max([last, *(key for key in found if isinstance(key, int))])

    def to_json(self) -> bytes:
        return _adapter(self.record_type).dump_json((*self, *self.later.values()))

    def flaws(self, rows: Any) -> Iterator[tuple[int, str, str]]:
        """Why ``rows`` could not be loaded: row from 1, field, message."""
        if not isinstance(rows, list):
            yield 1, "", "This must be a list of records."
            return
        rows = self._numbered(rows)
        try:
            records = _adapter(self.record_type).validate_python(rows)
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

    def _numbered(self, rows: list[Any]) -> list[Any]:
        used = {row[self.key] for row in rows if isinstance(row, dict) and isinstance(row.get(self.key), int)}
        free = max(used, default=0)
        out = []
        for row in rows:
            if isinstance(row, dict) and self.key not in row:
                free += 1
                row = {self.key: free, **row}
            out.append(row)
        return out

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


@cache
def _adapter(record_type: type[Record]) -> TypeAdapter[tuple[Record, ...]]:
    """Making one takes longer than most calls."""
    return TypeAdapter(tuple[record_type, ...])  # type: ignore[valid-type]


def as_dict(record: Any) -> dict[str, Any]:
    """Like ``dataclasses.asdict``, but what is in a record is never copied."""
    return {
        name: tuple(map(as_dict, value)) if isinstance(value, tuple) and value and is_dataclass(value[0]) else value
        for name, value in vars(record).items()
    }


def given(**values: Any) -> dict[str, Any]:
    """What was not left out."""
    return {name: value for name, value in values.items() if value is not None}


def without_empty(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if value is not None and value not in ("", (), [], {})}


def without_owner(record: Any) -> dict[str, Any]:
    return {name: value for name, value in as_dict(record).items() if name != "owner"}
