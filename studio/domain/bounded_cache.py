"""A thread-safe cache bounded in bytes."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

ENTRY_BYTES = 200
"""Approximate overhead of an entry."""


class BoundedCache(Generic[Key, Value]):
    """Evicts the least recently used entries once all of them together take more than ``max_bytes``.

    ``size_of`` gives a value's size in bytes; the default counts the object itself, not what it refers to, and so is
    right for ``str`` and ``bytes``. Values must not change while they are cached.
    """

    def __init__(self, max_bytes: int, *, size_of: Callable[[Value], int] = sys.getsizeof) -> None:
        self.max_bytes = max_bytes
        self._size_of = size_of
        self._lock = Lock()
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._bytes = 0

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Value]:
        with self._lock:
            hits = {key: self._entries[key][0] for key in keys if key in self._entries}
            for key in hits:
                self._entries.move_to_end(key)
        return hits

    def put_many(self, values: Mapping[Key, Value]) -> None:
        """Values larger than the whole cache are not stored."""
        sizes = {key: ENTRY_BYTES + sys.getsizeof(key) + self._size_of(value) for key, value in values.items()}
        with self._lock:
            for key, value in values.items():
                self._drop(key)
                if sizes[key] > self.max_bytes:
                    continue
                self._entries[key] = (value, sizes[key])
                self._bytes += sizes[key]
                while self._bytes > self.max_bytes:
                    self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    @property
    def size(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    def _drop(self, key: Key) -> None:
        _, size = self._entries.pop(key, (None, 0))
        self._bytes -= size
