"""Records of a table as they were last read or written, and what changed since.

What is read from bytes of our own writing is cut into its records without being parsed; a record is parsed when it is
asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Any, Generic, NamedTuple, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from evaluation.tools.apps.framework.errors import AppDataError
from evaluation.tools.apps.framework.index import Key, Record

FEW = 12
"""Records that are looked for one by one before all are cut apart."""
MANY = 40
"""Changed records from which all are written anew."""


class Shape(Generic[Record]):
    """How records of a type are read and written. One for each type: making it takes longer than most calls."""

    def __init__(self, record_type: type[Record]) -> None:
        self.key = fields(record_type)[0].name
        self.head = b'{"%s":' % self.key.encode()
        """Every record begins so, and nothing within one does."""
        self.between = b"}," + self.head
        self.one: TypeAdapter[Record] = TypeAdapter(record_type)
        self.all: TypeAdapter[tuple[Record, ...]] = TypeAdapter(tuple[record_type, ...])  # type: ignore[valid-type]
        if any(fields(inner)[0].name == self.key for inner in _inner_types(record_type)):
            raise TypeError(f"A part of {record_type.__name__} begins with its key, {self.key}.")


@cache
def shape_of(record_type: type[Record]) -> Shape[Record]:
    return Shape(record_type)


def _inner_types(record_type: Any) -> Iterator[Any]:
    for hint in get_type_hints(record_type).values():
        for part in (hint, *get_args(hint)):
            if is_dataclass(part):
                yield part
                yield from _inner_types(part)


class RecordsSpan(NamedTuple):
    """Where a table's records stand in JSON of our own writing: from [ to behind ]."""

    content: bytes
    start: int
    end: int


class SharedRecords(Mapping[Key, Record]):
    """Records that never change, so that copies of a table share them. Made of records or of their JSON."""

    def __init__(
        self, shape: Shape[Record], records: dict[Key, Record] | None = None, section: RecordsSpan | None = None
    ) -> None:
        self._shape = shape
        self._all = {} if records is None and section is None else records
        self._section = section
        self._some: dict[Key, Record | None] = {}
        """Those looked for one by one; None: there is none."""

    @property
    def is_empty(self) -> bool:
        return not (self._all if self._section is None else self._section)

    @property
    def section(self) -> RecordsSpan:
        """There must be records."""
        if self._section is None:
            text = self._shape.all.dump_json(tuple(self.values()))
            self._section = RecordsSpan(text, 0, len(text))
        return self._section

    def place(self, key: Key) -> tuple[int, int] | None:
        """Where the record stands in the content of ``section``."""
        content, start, end = self.section
        text = self._shape.head + to_json(key)
        begin = content.find(text, start, end)
        while begin != -1 and content[begin + len(text)] not in b",}":
            begin = content.find(text, begin + 1, end)
        if begin == -1:
            return None
        behind = content.find(self._shape.between, begin, end)
        return begin, end - 1 if behind == -1 else behind + 1

    @cached_property
    def _pieces(self) -> dict[Key, bytes]:
        """What stands between head and end of each."""
        content, start, end = self.section
        pieces = content[start + 1 + len(self._shape.head) : end - 2].split(self._shape.between)
        return dict(zip(map(_key_of, pieces), pieces, strict=True))

    def get(self, key: Key, default: Any = None) -> Any:
        if self._all is not None:
            return self._all.get(key, default)
        if key in self._some:
            return default if (known := self._some[key]) is None else known
        if len(self._some) < FEW:
            place = self.place(key)
            text = None if place is None else self.section.content[slice(*place)]
        else:
            piece = self._pieces.get(key)
            text = None if piece is None else b"".join((self._shape.head, piece, b"}"))
        record: Record | None = None if text is None else _read(self._shape.one, text)
        self._some[key] = record
        return default if record is None else record

    def __getitem__(self, key: Key) -> Record:
        record: Record | None = self.get(key)
        if record is None:
            raise KeyError(key)
        return record

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int | str) and self.get(key) is not None

    def __len__(self) -> int:
        return len(self._pieces if self._all is None else self._all)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._pieces if self._all is None else self._all)

    def values(self) -> Any:
        """All are parsed at once, which takes a third of the time."""
        if self._all is None:
            content, start, end = self.section
            records = _read(self._shape.all, content[start:end])
            self._all = {getattr(record, self._shape.key): record for record in records}
        return self._all.values()


class Rows(Generic[Record]):
    """``shared`` with what was added, replaced and removed (None) since."""

    __slots__ = ("changed", "shared")

    def __init__(self, shared: SharedRecords[Record], changed: dict[Key, Record | None] | None = None) -> None:
        self.shared = shared
        self.changed: dict[Key, Record | None] = {} if changed is None else changed

    def copy(self) -> Rows[Record]:
        return Rows(self.shared, dict(self.changed))

    def get(self, key: Key) -> Record | None:
        if key in self.changed:
            return self.changed[key]
        record: Record | None = self.shared.get(key)
        return record

    def put(self, key: Key, record: Record) -> None:
        self.changed[key] = record

    def remove(self, key: Key) -> None:
        if key in self.shared:
            self.changed[key] = None
        else:
            del self.changed[key]

    def __contains__(self, key: object) -> bool:
        if key in self.changed:
            return self.changed[key] is not None
        return key in self.shared

    def __len__(self) -> int:
        difference = 0
        for key, record in self.changed.items():
            difference += (record is not None) - (key in self.shared)
        return len(self.shared) + difference

    def __bool__(self) -> bool:
        return bool(len(self)) if self.changed else not self.shared.is_empty

    def __iter__(self) -> Iterator[Record]:
        """Those that were replaced, or removed and added again, stand where they stood."""
        if not self.changed:
            return iter(self.shared.values())
        return chain(self._shared_now(), self.added())

    def added(self) -> Iterator[Record]:
        return (record for key, record in self.changed.items() if record is not None and key not in self.shared)

    def section(self, shape: Shape[Record]) -> bytes:
        """As a JSON list; what did not change is not written anew."""
        if self.shared.is_empty:
            return shape.all.dump_json(tuple(self.added()))
        content, start, end = self.shared.section
        if not self.changed:
            return content[start:end]
        changed = [key for key in self.changed if key in self.shared]
        if len(changed) > MANY:
            return shape.all.dump_json(tuple(self))
        places = sorted((place, self.changed[key]) for key in changed if (place := self.shared.place(key)))
        parts: list[bytes] = []
        for (begin, behind), record in places:
            parts.append(content[start:begin])
            start = behind
            if record is not None:
                parts.append(shape.one.dump_json(record))
            elif content[behind : behind + 1] == b",":
                start += 1
        text = b"".join((*parts, content[start : end - 1]))
        left = text.rstrip(b",") if places else text  # the last may be gone
        new = list(map(shape.one.dump_json, self.added()))
        return b"".join((left, b"," if new and len(left) > 1 else b"", b",".join(new), b"]"))

    def consolidate(self, shape: Shape[Record]) -> Rows[Record]:
        return Rows(SharedRecords(shape, {getattr(record, shape.key): record for record in self}))

    def _shared_now(self) -> Iterator[Record]:
        self.shared.values()
        for key in self.shared:
            record = self.changed[key] if key in self.changed else self.shared[key]
            if record is not None:
                yield record


def _key_of(piece: bytes) -> Key:
    if piece[:1] != b'"':
        end = piece.find(b",")
        return int(piece if end < 0 else piece[:end])
    end = piece.find(b'"', 1)
    while piece[end - 1 : end] == b"\\" and _escapes(piece, end):
        end = piece.find(b'"', end + 1)
    text = piece[1:end]
    return str(json.loads(b'"%s"' % text)) if b"\\" in text else text.decode()


def _escapes(piece: bytes, quote: int) -> bool:
    """Whether the backslashes before the quote escape it."""
    before = piece[:quote]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _read(adapter: TypeAdapter[Any], text: bytes) -> Any:
    """Raises AppDataError."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        raise AppDataError(f"A record cannot be read: {error.errors()[0]['msg']}.") from None
