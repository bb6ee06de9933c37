"""A thread-safe cache bounded in bytes."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeGuard, TypeVar, cast

from studio.domain.time_budget import check_time

Key = TypeVar("Key")
Value = TypeVar("Value")
Parameters = ParamSpec("Parameters")

ENTRY_BYTES = 200
"""Approximate overhead of an entry."""
_SAMPLE = 8
"""Parts of a long value that are measured; the others are assumed to be like them."""
_HEADER_BYTES = 16
"""What the garbage collector adds to a container."""
_NONE: tuple[str, ...] = ()
_PLAIN = {str, bytes, int, float, bool, type(None)}
_LONG_TEXT = 500
"""Characters from which entries whose keys contain the same text share it, and only the first pays for it."""


class BoundedCache(Generic[Key, Value]):
    """Evicts entries that were not used lately once all of them together take more than ``max_bytes``.

    ``size_of`` gives a value's size in bytes; the default counts the object itself, not what it refers to, and so is
    right for ``str`` and ``bytes``. Values must not change while they are cached.

    Reading takes no lock and moves nothing: an entry that was read since it was last considered for eviction is spared
    once. Operations on single keys of a ``dict`` are atomic.
    """

    def __init__(self, max_bytes: int, *, size_of: Callable[[Value], int] = sys.getsizeof) -> None:
        self.max_bytes = max_bytes
        self._size_of = size_of
        self._lock = Lock()
        self._entries: OrderedDict[Key, list[Any]] = OrderedDict()
        """Value, size, whether it was read, and the long texts of the key; oldest first."""
        self._texts: dict[str, list[Any]] = {}  # long texts of keys: the one object, entries that use it
        self._bytes = 0

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Value]:
        hits = {}
        for key in keys:
            if (entry := self._entries.get(key)) is not None:
                entry[2] = True
                hits[key] = entry[0]
        return hits

    def put_many(self, values: Mapping[Key, Value]) -> None:
        for key, value in values.items():
            self.put(key, value)

    def put(self, key: Key, value: Value) -> None:
        """A value larger than the whole cache is not stored."""
        size, text_bytes = ENTRY_BYTES + self._size_of(value), 0
        long_texts = []
        for part in key if isinstance(key, tuple) else (key,):
            if type(part) is not str:
                size += deep_size(part)
            elif len(part) < _LONG_TEXT:
                size += sys.getsizeof(part)
            else:
                long_texts.append(part)
                text_bytes += sys.getsizeof(part)
        with self._lock:
            if key in self._entries:
                self._drop(key)
            if size + text_bytes > self.max_bytes:
                return
            if long_texts:
                key = self._share(key, long_texts)
                long_texts = [self._texts[text][0] for text in long_texts]
            self._entries[key] = [value, size, False, long_texts or _NONE]
            self._bytes += size
            while self._bytes > self.max_bytes:
                oldest = next(iter(self._entries))
                entry = self._entries[oldest]
                if entry[2] and oldest is not key:
                    entry[2] = False
                    self._entries.move_to_end(oldest)
                else:
                    self._drop(oldest)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._texts.clear()
            self._bytes = 0

    @property
    def size(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)

    def _share(self, key: Key, long_texts: list[str]) -> Key:
        """The key with the texts that other keys hold already."""
        for text in long_texts:
            shared = self._texts.get(text)
            if shared is None:
                shared = self._texts[text] = [text, 0]
                self._bytes += sys.getsizeof(text)
            shared[1] += 1
        if not isinstance(key, tuple):
            return key
        return cast("Key", tuple(self._texts[part][0] if _is_long(part) else part for part in key))

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        self._bytes -= entry[1]
        for text in entry[3]:
            shared = self._texts[text]
            shared[1] -= 1
            if not shared[1]:
                del self._texts[text]
                self._bytes -= sys.getsizeof(text)


def _is_long(part: object) -> TypeGuard[str]:
    return isinstance(part, str) and len(part) >= _LONG_TEXT


def deep_size(value: Any) -> int:
    """Approximate bytes of a value and all that it refers to; long containers are sampled."""
    if type(value) in _PLAIN:
        return sys.getsizeof(value)
    size = sys.getsizeof(value) + _HEADER_BYTES
    if isinstance(value, (tuple, list, set, frozenset)):
        return size + _sampled(value)
    if isinstance(value, Mapping):
        return size + _sampled([*value.keys(), *value.values()])
    if slots := getattr(type(value), "__slots__", ()):
        return size + sum(deep_size(getattr(value, name, None)) for name in slots)
    return size + _sampled(list(getattr(value, "__dict__", {}).values()))


def _sampled(parts: tuple[Any, ...] | list[Any] | set[Any] | frozenset[Any]) -> int:
    if len(parts) <= _SAMPLE:
        return _sum_of_sizes(parts)
    sequence = parts if isinstance(parts, (tuple, list)) else tuple(parts)
    sample = sequence[:: len(sequence) // _SAMPLE]
    return _sum_of_sizes(sample) * len(sequence) // len(sample)


def _sum_of_sizes(parts: Iterable[Any]) -> int:
    size, size_of = 0, sys.getsizeof
    for part in parts:
        size += size_of(part) if type(part) in _PLAIN else deep_size(part)
    return size


CACHES: dict[str, BoundedCache[Any, Any]] = {}
"""The caches of functions, by the function's name."""


def cached(
    max_bytes: int, *, size_of: Callable[[Any], int] = deep_size
) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]:
    """Cache a pure function of positional, hashable arguments. Whatever must be computed counts against the time budget
    of the checks."""

    def decorate(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
        cache: BoundedCache[Any, Value] = BoundedCache(max_bytes, size_of=size_of)
        CACHES[f"{function.__module__}.{function.__qualname__}"] = cache
        entries, compute = cache._entries, cast("Callable[..., Value]", function)

        @wraps(function)
        def read(*arguments: Any) -> Value:
            if (entry := entries.get(arguments)) is not None:
                entry[2] = True
                known: Value = entry[0]
                return known
            check_time()
            value = compute(*arguments)
            cache.put(arguments, value)
            return value

        return cast("Callable[Parameters, Value]", read)

    return decorate
