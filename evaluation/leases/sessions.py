"""Who works on which session: claims by conditional update, leases, and what is due.

A session is worked on by whoever holds its claim. A claim whose worker died runs out, and another
takes it; the first, should it still live, finds at its next write that it lost it.

A conversation needs every earlier one of its run to be over, for they share a workspace. Compat
grading needs all of them to be over, for it looks at the files as they are at the end.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from evaluation.models import Pilot, Session

logger = logging.getLogger(__name__)
State = Session.State
ENQUEUE_AGAIN = timedelta(minutes=2)
"""A message to the queue that nobody acted on is sent again after this."""


class LeaseLostError(Exception):
    """Another worker has this session now, or it was cancelled. Write nothing more."""


def lease() -> timedelta:
    return timedelta(seconds=settings.SESSION_LEASE_SECONDS)


def claimable() -> QuerySet[Session]:
    """Sessions someone may take up now."""
    now = timezone.now()
    others = Session.objects.filter(run=OuterRef("run"), ended_at=None).exclude(state=State.CANCELLED)
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    may_go_on = (
        Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=now) | Q(state=State.ERROR, retry_at__lte=now)
    )
    tries = Q(attempts__lt=settings.SESSION_ATTEMPTS)
    talks = Q(~Exists(others.filter(position__lt=OuterRef("position"))))
    grades = Q(~Exists(others), state=State.FINISHED, graded_compat_at=None) & free
    return Session.objects.filter((may_go_on & tries & talks) | grades).exclude(run__pilot__state=Pilot.State.CANCELLED)


def claim(session_id: int) -> Session | None:
    """Take a session up. None: it is not to be had, because another has it, or it is not its turn yet."""
    token = f"{_here()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    now = timezone.now()
    taken = (
        claimable()
        .filter(pk=session_id)
        .update(
            state=State.RUNNING,
            claimed_by=token,
            lease_until=now + lease(),
            attempts=F("attempts") + 1,
            retry_at=None,
            reason="",
        )
    )
    if not taken:
        return None
    session = Session.objects.select_related(
        "revision", "run__persona_revision", "run__pilot__agent", "run__pilot__user_model", "run__pilot__judge"
    ).get(pk=session_id)
    if session.claimed_by != token:
        return None
    if session.started_at is None:
        Session.objects.filter(pk=session_id, claimed_by=token).update(started_at=now)
    Pilot.objects.filter(pk=session.run.pilot_id, state=Pilot.State.WAITING).update(state=Pilot.State.RUNNING)
    return session


def free_dead() -> int:
    """End the leases of processes of this machine that are gone, so that a restart need not wait for them."""
    dead = [
        token
        for token in Session.objects.filter(state=State.RUNNING, claimed_by__startswith=f"{_here()}:").values_list(
            "claimed_by", flat=True
        )
        if not Path(f"/proc/{token.split(':')[-2]}").exists()
    ]
    return Session.objects.filter(claimed_by__in=dead, state=State.RUNNING).update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )


@cache
def _here() -> str:
    """Where process numbers mean what they mean to us: this machine, since it was started, in this container."""
    try:
        place = Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink("/proc/self/ns/pid")
    except OSError:
        place = uuid.uuid4().hex
    return f"{socket.gethostname()[:60].replace(':', '-')}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"


def held(session: Session) -> QuerySet[Session]:
    """The session's row as long as the claim holds: what every write goes through."""
    return Session.objects.filter(pk=session.pk, claimed_by=session.claimed_by, state=State.RUNNING)


def hold(session: Session) -> None:
    """Lock the row for this transaction. Raises LeaseLostError."""
    if not held(session).select_for_update().values_list("pk").first():
        raise LeaseLostError


def let_go(session: Session, **changes: object) -> None:
    """End the claim with these changes. Does nothing if it was lost."""
    held(session).update(claimed_by="", lease_until=None, **changes)


@contextmanager
def kept_alive(session: Session) -> Iterator[None]:
    """The lease is renewed by this process as long as the block runs."""
    _heart.add(session.claimed_by)
    try:
        yield
    finally:
        _heart.remove(session.claimed_by)


class _Heart:
    """One thread of this process renews all its leases, and ends when there are none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: set[str] = set()
        self._idle = threading.Event()
        self._running = False

    def add(self, token: str) -> None:
        with self._lock:
            self._tokens.add(token)
            self._idle.clear()
            if not self._running:
                self._running = True
                threading.Thread(target=self._beat, name="session-leases", daemon=True).start()

    def remove(self, token: str) -> None:
        with self._lock:
            self._tokens.discard(token)
            if not self._tokens:
                self._idle.set()

    def _beat(self) -> None:
        try:
            while True:
                self._idle.wait(settings.SESSION_LEASE_SECONDS / 3)
                with self._lock:
                    tokens = list(self._tokens)
                    if not tokens:
                        self._running = False
                        return
                try:
                    Session.objects.filter(claimed_by__in=tokens).update(lease_until=timezone.now() + lease())
                except Exception:  # the database may be back at the next beat; if not, the lease runs out as it should
                    logger.exception("Leases could not be renewed.")
                    connection.close()
        finally:
            connection.close()


_heart = _Heart()
os.register_at_fork(after_in_child=_heart.__init__)  # type: ignore[misc]
