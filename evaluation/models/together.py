"""Writes of many threads in one statement.

Most of what a statement costs does not grow with its rows: a commit, a round trip, and for PostgreSQL reading the
conditions of the tables.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from django.db import connection

from evaluation.models.connections import give_back_connection

GATHER_SECONDS = 0.01
"""Between two statements. What comes after a longer rest is written at once."""
MOST = 256
"""In one statement."""
Given = TypeVar("Given")
Stored = TypeVar("Stored")


class NotStoredTogetherError(Exception):
    """The statement failed, perhaps for something that others gave; whether it was committed is not known."""


class Together(Generic[Given, Stored]):
    """``write`` stores all it is given, or nothing, and answers in the same order. Of what has the same ``name`` it is
    given one at a time.

    There is no thread for it: of the threads that wait, one writes for all.
    """

    def __init__(self, write: Callable[[Sequence[Given]], Sequence[Stored]], name: Callable[[Given], Hashable]) -> None:
        self._write = write
        self._name = name
        self._lock = threading.Lock()
        self._waiting: list[_Entry[Given, Stored]] = []
        self._led = False
        self._began_at = float("-inf")

    def store(self, given: Given) -> Stored:
        """Waits until it is stored. Raises NotStoredTogetherError, or what ``write`` raises if nothing else was given.

        In a transaction it is written alone, for others must not wait for the transaction's end.
        """
        if connection.in_atomic_block:
            return self._write([given])[0]
        give_back_connection()
        entry: _Entry[Given, Stored] = _Entry(given)
        with self._lock:
            self._waiting.append(entry)
            leads, self._led = not self._led, True
        if not leads:
            entry.told.acquire()
        if not entry.over:
            self._lead()
        if entry.error is not None:
            raise entry.error
        assert entry.stored is not None
        return entry.stored[0]

    def _lead(self) -> None:
        entries: list[_Entry[Given, Stored]] = []
        try:
            rest = self._began_at + GATHER_SECONDS - time.monotonic()
            if rest > 0:
                time.sleep(rest)
            self._began_at = time.monotonic()
            entries = self._take()
            for entry, stored in zip(entries, self._write([entry.given for entry in entries]), strict=True):
                entry.stored = (stored,)
        except BaseException as error:
            for entry in entries:
                entry.error = error if len(entries) == 1 else NotStoredTogetherError(str(error))
        finally:
            with self._lock:
                following = self._waiting[0] if self._waiting else None
                self._led = following is not None
            for entry in entries:
                entry.over = True
                entry.told.release()
            if following is not None:
                following.told.release()

    def _take(self) -> list[_Entry[Given, Stored]]:
        """The leader's own is the first."""
        taken: dict[Hashable, _Entry[Given, Stored]] = {}
        with self._lock:
            left = []
            for entry in self._waiting:
                name = self._name(entry.given)
                if name in taken or len(taken) == MOST:
                    left.append(entry)
                else:
                    taken[name] = entry
            self._waiting = left
        return list(taken.values())


class _Entry(Generic[Given, Stored]):
    def __init__(self, given: Given) -> None:
        self.given = given
        self.stored: tuple[Stored] | None = None
        self.error: BaseException | None = None
        self.over = False
        self.told = threading.Lock()
        """Released once there is something to know: it is over, or its thread is to write for all."""
        self.told.acquire()
