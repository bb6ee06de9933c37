"""Admission of calls to endpoints: no more at once than an endpoint allows, over all workers, fair between groups.

A group is a pilot, or what else asks models. Within a process, calls wait in line by group, and the group with the
fewest calls under way goes next. What the process may have under way is its share of the endpoint's limit, which
workers agree on in Valkey (``evaluation.llm.shares``).
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from evaluation.llm.endpoint import Endpoint
from evaluation.llm.rates import NOTHING, Rates, read_rates
from evaluation.llm.shares import Share, SharedLimits, shared_limits

logger = logging.getLogger(__name__)
SYNC_SECONDS = 0.05
"""Between two agreements with other workers while calls are under way."""
LONGEST_WAIT = 60.0
"""Seconds that a call waits for an endpoint's rate; for longer, its session gives way to others."""
AWAY_SECONDS = 5.0
"""Without Valkey each process takes the whole limit, and looks for it again after this."""
IDLE_SECONDS = 1.0
"""A share is kept this long after the last call."""


class HeldError(Exception):
    """The endpoint wants to be left alone for longer than it is worth waiting."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Queue:
    """The calls of this process to one endpoint."""

    def __init__(self, key: str, limit: int, shared: SharedLimits | None) -> None:
        self.key = key
        self.limit = limit
        self._shared = shared
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()
        self._waiting: dict[str, deque[threading.Event]] = defaultdict(deque)
        self._share = Share(0 if shared else limit)
        self._sent = 0
        self._rates = Rates()
        self._used_at = time.monotonic()
        self._away_until = 0.0

    @contextmanager
    def admitted(self, group: str, after_waiting: Callable[[], None]) -> Iterator[None]:
        """``after_waiting`` raises if the call may not be sent any more."""
        if self._enter(group):
            try:
                after_waiting()
            except BaseException:
                self._leave(group)
                raise
        try:
            yield
        finally:
            self._leave(group)

    def observe(self, status: int, headers: Mapping[str, str]) -> None:
        """Learn the endpoint's rates from its answer."""
        rates = read_rates(status, headers)
        if rates is NOTHING:
            return
        with self._lock:
            self._rates = self._rates.merge(rates)
            if self._shared is None:
                self._share = self._share.hold(rates, time.time())

    @property
    def wanted(self) -> bool:
        with self._lock:
            return bool(self._under_way) or any(self._waiting.values())

    def sync(self) -> bool:
        """Agree with other workers on this process's share. False if it has none and wants none."""
        with self._lock:
            demand = {
                group: self._under_way[group] + len(self._waiting.get(group, ()))
                for group in {*self._under_way, *self._waiting}
                if self._under_way[group] or self._waiting.get(group)
            }
            idle = not demand and time.monotonic() - self._used_at > IDLE_SECONDS
            if not demand and not idle:
                demand = {"": 1}
            busy, sent, rates = dict(self._under_way), self._sent, self._rates
            self._sent = 0
            self._rates = Rates()
            shared = self._shared if time.monotonic() >= self._away_until else None
            if shared is not None:  # until they agree, nothing more is taken than the others are told
                self._share = self._share.resized(sum(busy.values()))
        if shared is not None:
            try:
                share = shared.agree(self.key, self.limit, demand, busy, sent, rates)
            except Exception as error:
                logger.warning("Limits are not shared with other workers, for the broker is away: %s", error)
                share = Share(self.limit, hold_until=rates.hold_until)
                self._away_until = time.monotonic() + AWAY_SECONDS
            with self._lock:
                self._share = share
        with self._lock:
            self._admit()
        return not idle

    def _enter(self, group: str) -> bool:
        """Take a slot; True if that took waiting. Raises HeldError."""
        with self._lock:
            held = self._share.hold_until - time.time()
            if held > LONGEST_WAIT:
                raise HeldError(held)
            self._used_at = time.monotonic()
            if not any(self._waiting.values()) and self._has_room():
                self._take(group)
                fresh = self._under_way.total() == 1
                event = None
            else:
                event = threading.Event()
                self._waiting[group].append(event)
                fresh = True
        if fresh:
            pump.kick(self)
        if event is None:
            return False
        try:
            event.wait()
        except BaseException:
            with self._lock:
                if event in self._waiting[group]:
                    self._waiting[group].remove(event)
                else:
                    self._give(group)
            raise
        return True

    def _leave(self, group: str) -> None:
        with self._lock:
            self._give(group)
            self._used_at = time.monotonic()
            self._admit()

    def _admit(self) -> None:
        while self._has_room():
            lines = [group for group, line in self._waiting.items() if line]
            if not lines:
                return
            group = min(lines, key=lambda name: self._under_way[name])
            line = self._waiting.pop(group)
            event = line.popleft()
            if line:
                self._waiting[group] = line  # at the end: of groups with equally few, the one served longest ago
            self._take(group)
            event.set()

    def _has_room(self) -> bool:
        return self._under_way.total() < self._share.slots and self._share.open_at(time.time())

    def _take(self, group: str) -> None:
        self._under_way[group] += 1
        self._sent += 1
        self._share = self._share.spend()

    def _give(self, group: str) -> None:
        self._under_way[group] -= 1
        if not self._under_way[group]:
            del self._under_way[group]


class Pump:
    """One thread that keeps the shares of all endpoints of this process, while any is in use."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """As new: a forked child needs the same object without its parent's thread."""
        self._lock = threading.Lock()
        self._queues: dict[str, Queue] = {}
        self._kicked = threading.Event()
        self._running = False

    def kick(self, queue: Queue) -> None:
        """This queue wants its share now."""
        with self._lock:
            self._queues[queue.key] = queue
            self._kicked.set()
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="endpoint-limits", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._kicked.clear()
            with self._lock:
                queues = list(self._queues.values())
            for queue in queues:
                try:
                    in_use = queue.sync()
                except Exception:  # who waits would wait for ever
                    logger.exception("The limits of %s could not be kept.", queue.key)
                    continue
                with self._lock:
                    if not in_use and not queue.wanted:  # a call may have come meanwhile
                        self._queues.pop(queue.key, None)
            with self._lock:
                if not self._queues:
                    self._running = False
                    return
            if self._kicked.wait(SYNC_SECONDS):
                time.sleep(0.005)  # others that want a share now come along


def calls_in_flight(endpoint: Endpoint, group: str) -> int:
    """Over all workers, a moment ago; 0 where they share nothing."""
    shared = shared_limits()
    try:
        return shared.in_flight(_key(endpoint), group) if shared else 0
    except Exception:
        logger.warning("The calls under way are not known: the broker is away.")
        return 0


def _key(endpoint: Endpoint) -> str:
    return f"{endpoint.base_url} {endpoint.model}"


pump = Pump()
_queues: dict[tuple[int, str], Queue] = {}
_queues_lock = threading.Lock()


def queue_of(endpoint: Endpoint) -> Queue:
    key = _key(endpoint)
    limit = max(1, endpoint.limits.max_concurrency)
    with _queues_lock:
        queue = _queues.get((os.getpid(), key))
        if queue is None:
            queue = _queues[os.getpid(), key] = Queue(key, limit, shared_limits())
        queue.limit = limit
        if not queue._shared:
            queue._share = queue._share.resized(limit)
        return queue


os.register_at_fork(after_in_child=pump.reset)
