"""A process that carries many sessions at once, each in a thread that mostly waits for models.

Sessions are taken from the database, not from the broker: a message only says that it is worth looking now.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from django.db import connection

from evaluation.call_records import load_client
from evaluation.pilots.queue import due_in_run, due_sessions
from evaluation.pilots.session_work import work_on

logger = logging.getLogger(__name__)
POLL_SECONDS = 1.0
"""Between two looks for due sessions when no message comes."""
OPENING = 4
"""Sessions that are opened at one time. Were all opened side by side, none would ask a model before most are open."""
STALE_SECONDS = 2.0
"""The order of sessions read earlier than this is read again: other pilots may have started."""


class Carrier:
    """``pilot_id``: only that pilot's sessions."""

    def __init__(self, capacity: int, pilot_id: int | None = None) -> None:
        self._capacity = capacity
        self._pilot_id = pilot_id
        self._lock = threading.Lock()
        self._active: set[int] = set()
        self._due: deque[int] = deque()
        self._read_at = float("-inf")
        self._cut = False
        """Whether more were due when they were read."""
        self._opening = threading.Semaphore(OPENING)
        self._woken = threading.Event()
        self._stopped = threading.Event()

    def start(self) -> None:
        load_client()
        threading.Thread(target=self._run, name="session-carrier", daemon=True).start()

    def wake(self) -> None:
        """Sessions may be due: look now."""
        self._read_at = float("-inf")
        self._woken.set()

    def stop(self, *, wait_seconds: float = 0.0) -> None:
        """Take up nothing more. What is under way goes on as long as the process lives."""
        self._stopped.set()
        self._woken.set()
        end = time.monotonic() + wait_seconds
        while self._active and time.monotonic() < end:
            time.sleep(0.02)

    @property
    def carried(self) -> int:
        return len(self._active)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                self._fill()
            except Exception:  # the database may be back next time
                logger.exception("Looking for due sessions failed.")
            finally:
                connection.close()
            self._woken.wait(POLL_SECONDS + 0.01)

    def _fill(self) -> None:
        while len(self._active) < self._capacity and not self._stopped.is_set():
            if self._is_stale() and not self._read():
                return
            self._opening.acquire()
            opened = _Once(self._opening.release)
            with self._lock:
                pk = next((pk for pk in iter(self._pop, None) if pk not in self._active), None)
                if pk is not None:
                    self._active.add(pk)
            if pk is None:
                opened()
                return
            threading.Thread(target=self._carry, args=(pk, opened), name=f"session-{pk}", daemon=True).start()

    def _pop(self) -> int | None:
        return self._due.popleft() if self._due else None

    def _is_stale(self) -> bool:
        """Whether to read what is due. The end of a session alone is no reason: it says itself what is due after it."""
        age = time.monotonic() - self._read_at
        return age > (STALE_SECONDS if self._due else 0.0 if self._cut else POLL_SECONDS)

    def _read(self) -> bool:
        """False if nothing is due that is not under way here."""
        self._read_at = time.monotonic()
        due = due_sessions(2 * self._capacity, pilot_id=self._pilot_id)
        with self._lock:
            self._cut = len(due) >= 2 * self._capacity
            self._due = deque(pk for pk in due if pk not in self._active)
            return bool(self._due)

    def _carry(self, pk: int, opened: Callable[[], None]) -> None:
        try:
            work_on(pk, self._hand_on, opened)
        except Exception:  # its lease expires, and it is tried again
            logger.exception("Session %d was left.", pk)
        finally:
            opened()
            connection.close()
            with self._lock:
                self._active.discard(pk)
            self._woken.set()

    def _hand_on(self, run_id: int) -> None:
        """The next sessions of a run go first: others wait for the run's end."""
        found = due_in_run(run_id)
        with self._lock:
            self._due.extendleft(pk for pk in reversed(found) if pk not in self._active)
        self._woken.set()


class _Once:
    """Does something when it is called for the first time."""

    def __init__(self, do: Callable[[], object]) -> None:
        self._do: Callable[[], object] | None = do

    def __call__(self) -> None:
        do, self._do = self._do, None
        if do is not None:
            do()
