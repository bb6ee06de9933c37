"""Admission of calls to endpoints: no more at once than an endpoint allows, fair between groups.

A slot runs out by itself, so that nobody has to clean up after a process that died. A group is a
pilot, or what else asks models; of groups that wait, the one with the fewest calls under way goes next.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

ASK_AGAIN = 0.05
"""Seconds until a call that waits asks again."""
LONGEST_WAIT = 60.0
"""Seconds that a call waits for an endpoint that wants to be left alone; for longer, its session gives way."""
FORGOTTEN = 5.0
"""Seconds after which who has not asked again does not wait any more."""


class HeldError(Exception):
    """The endpoint wants to be left alone for longer than it is worth waiting."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Slots(Protocol):
    """``place`` is an endpoint, ``who`` a call."""

    def take(self, place: str, limit: int, who: str, group: str, seconds: float) -> tuple[bool, float]:
        """Whether it has a slot now, for so many seconds; if not, seconds after which to ask again. Asked by who has
        one, it holds it anew."""
        ...

    def leave(self, place: str, who: str, group: str) -> None: ...

    def hold(self, place: str, seconds: float) -> None:
        """Nobody gets a slot for so long."""
        ...

    def in_flight(self, place: str, group: str) -> int: ...


@dataclass
class _Place:
    busy: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By call: its group, and when its slot runs out."""
    waiting: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By call: its group, and when it asked."""
    held_until: float = 0.0


class LocalSlots:
    """Of one process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}

    def take(self, place: str, limit: int, who: str, group: str, seconds: float) -> tuple[bool, float]:
        now = self._now()
        with self._lock:
            here = self._places.setdefault(place, _Place())
            here.busy = {call: row for call, row in here.busy.items() if row[1] > now}
            here.waiting = {call: row for call, row in here.waiting.items() if row[1] > now - FORGOTTEN}
            if who not in here.busy:
                if here.held_until > now:
                    return False, here.held_until - now
                if len(here.busy) >= limit or not self._is_next(here, who, group):
                    here.waiting[who] = (group, now)
                    return False, ASK_AGAIN
            here.waiting.pop(who, None)
            here.busy[who] = (group, now + seconds)
            return True, 0.0

    def leave(self, place: str, who: str, group: str) -> None:
        with self._lock:
            if here := self._places.get(place):
                here.busy.pop(who, None)
                here.waiting.pop(who, None)

    def hold(self, place: str, seconds: float) -> None:
        with self._lock:
            here = self._places.setdefault(place, _Place())
            here.held_until = max(here.held_until, self._now() + seconds)

    def in_flight(self, place: str, group: str) -> int:
        with self._lock:
            here = self._places.get(place, _Place())
            return sum(row == group and until > self._now() for row, until in here.busy.values())

    @staticmethod
    def _is_next(here: _Place, who: str, group: str) -> bool:
        waiting = {row for row, _ in here.waiting.values()}
        if who not in here.waiting and group in waiting:  # nobody overtakes their own group
            return False
        busy = Counter(row for row, _ in here.busy.values())
        return all(busy[group] <= busy[other] for other in waiting)


PROCESS = LocalSlots()
_making = threading.Lock()
_freed: dict[str, threading.Condition] = {}
"""By place: that a call of this process left it."""
_turns: WeakValueDictionary[tuple[str, str], threading.Lock] = WeakValueDictionary()
"""By place and group: whose turn it is to ask, among the calls of this process that wait."""


@dataclass(frozen=True)
class Lane:
    """The line in which the calls of a group wait."""

    slots: Slots = PROCESS
    group: str = ""

    @contextmanager
    def admitted(
        self, place: str, limit: int, seconds: float, after_waiting: Callable[[], None]
    ) -> Iterator[Callable[[], object]]:
        """Yields what holds the slot for ``seconds`` anew. Raises HeldError, and what ``after_waiting`` does, if the
        call may not be sent any more. Of the calls that wait, one asks again, and at once when another leaves."""
        who = uuid.uuid4().hex
        with _making:
            freed = _freed.setdefault(place, threading.Condition())
            turn = _turns.setdefault((place, self.group), threading.Lock())

        def take() -> tuple[bool, float]:
            return self.slots.take(place, limit, who, self.group, seconds)

        try:
            if not take()[0]:
                with turn:
                    while not (admitted := take())[0]:
                        if admitted[1] > LONGEST_WAIT:
                            raise HeldError(admitted[1])
                        with freed:
                            freed.wait(min(admitted[1], 1.0))
                after_waiting()
            yield take
        finally:
            self.slots.leave(place, who, self.group)
            with freed:
                freed.notify_all()
