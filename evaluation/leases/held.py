"""Whether leases on sessions still hold, asked for all sessions of this process at once."""

from __future__ import annotations

import threading
import time
import weakref

from evaluation.leases.sessions import LeaseLostError
from evaluation.models import Session
from evaluation.models.connections import give_back_connection
from studio.models.statements import binding_cursor

TRUST_SECONDS = 0.05
"""A lease that held this short a time ago is not asked for again."""
WAIT_SECONDS = 0.25
"""Nor does anyone wait while another thread asks, if it held this short a time ago."""
_HELD = "SELECT claimed_by FROM evaluation_session WHERE id = ANY(%s) AND state = 'running'"

_leases: weakref.WeakSet[HeldLease] = weakref.WeakSet()
_lock = threading.Lock()
"""Of the above."""
_asking = threading.Lock()


class HeldLease:
    """For the holder of the session's lease, as soon as it is acquired."""

    def __init__(self, session: Session) -> None:
        self.session_id = session.pk
        self.token = session.claimed_by
        self._held_at = time.monotonic()
        with _lock:
            _leases.add(self)

    def require(self) -> None:
        """Raises LeaseLostError: a paused or cancelled session pays for nothing more."""
        now = time.monotonic()
        earliest = now - TRUST_SECONDS
        if self._held_at >= earliest:
            return
        give_back_connection()  # who asks now needs one
        if not _asking.acquire(blocking=self._held_at < now - WAIT_SECONDS):
            return
        try:
            if self._held_at < earliest:
                _ask()
        finally:
            _asking.release()
        if self._held_at < earliest:
            raise LeaseLostError

    def seen(self, token: str) -> None:
        """``token`` holds the lease now."""
        self._held_at = time.monotonic() if token == self.token else 0.0


def _ask() -> None:
    with _lock:
        leases = list(_leases)
    asked_at = time.monotonic()
    with binding_cursor() as cursor:
        cursor.execute(_HELD, [[lease.session_id for lease in leases]])
        held = {token for (token,) in cursor.fetchall()}
    for lease in leases:
        lease._held_at = asked_at if lease.token in held else 0.0
