"""Leases on sessions: who works on which, and which can be leased now.

A session is worked on by the holder of its lease. If that worker dies, the lease expires and another worker acquires
the session; if the first is still alive, its next write raises LeaseLostError.

A conversation requires every earlier one of its run to be over, because they share a workspace. Compat grading
requires all of them to be over, because it reads the files as they are at the end.
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
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from evaluation.models import Pilot, Session
from evaluation.models.connections import give_back_connection
from studio.models.statements import PreparedQuery, binding_cursor

logger = logging.getLogger(__name__)
_NOW, _PK = datetime(1, 1, 1, tzinfo=UTC), -1
State = Session.State
_LEASE = """
update evaluation_session
set state = 'running', claimed_by = %s, lease_until = %s, attempts = attempts + 1, retry_at = null, reason = '',
    started_at = coalesce(started_at, %s)
where id = %s and (lease_until is null or lease_until < %s) and id in """

_OF_RUN = Session.objects.filter(run=OuterRef("run")).order_by()
_PLACE: Any = {
    "preceded": Exists(_OF_RUN.filter(position__lt=OuterRef("position"))),
    "followed": Exists(_OF_RUN.filter(position__gt=OuterRef("position"))),
}
_LEASED = PreparedQuery(
    lambda pk: (
        Session.objects.select_related(
            "revision", "run__persona_revision", "run__pilot__agent", "run__pilot__user_model", "run__pilot__judge"
        )
        .annotate(**_PLACE)
        .defer("revision__spec", "run__persona_revision__spec", "run__pilot__scores")
        .filter(pk=pk)
        .order_by()
    )
)


class LeaseLostError(Exception):
    """Another worker has the session now, or it was cancelled. Store nothing more."""


def lease_duration() -> timedelta:
    return timedelta(seconds=settings.SESSION_LEASE_SECONDS)


def leasable(now: datetime | None = None) -> QuerySet[Session]:
    now = now or timezone.now()
    unfinished = Session.objects.filter(run=OuterRef("run"), ended_at=None).exclude(state=State.CANCELLED)
    not_leased = Q(lease_until=None) | Q(lease_until__lt=now)
    resumable = (
        Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=now) | Q(state=State.ERROR, retry_at__lte=now)
    )
    attempts_left = Q(attempts__lt=settings.SESSION_ATTEMPTS)
    can_converse = Q(~Exists(unfinished.filter(position__lt=OuterRef("position"))))
    can_grade = Q(~Exists(unfinished), state=State.FINISHED, graded_compat_at=None) & not_leased
    return Session.objects.filter((resumable & attempts_left & can_converse) | can_grade).exclude(
        run__pilot__state__in=[Pilot.State.CANCELLED, Pilot.State.PAUSED]
    )


def leasable_in_run(run_id: int) -> list[int]:
    """Keys, in order."""
    return _leasable_keys("run", run_id)


def is_any_leasable(pilot_id: int) -> bool:
    return bool(_leasable_keys("run__pilot", pilot_id, limit=1))


def _leasable_keys(of: str, key: int, limit: int | None = None) -> list[int]:
    """Asked for each session that ends, so the statement is made once."""
    statement, parameters = _keys_statement(of, limit, settings.SESSION_ATTEMPTS)
    given: dict[Any, Any] = {_NOW: timezone.now(), _PK: key}
    with binding_cursor() as cursor:
        cursor.execute(statement, [given.get(p, p) for p in parameters])
        return [pk for (pk,) in cursor.fetchall()]


def acquire(session_id: int) -> Session | None:
    """Lease the session by a conditional update. None if another worker has it or it is not ready."""
    token = f"{_machine_id()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
    now = timezone.now()
    statement, parameters = _lease_statement(settings.SESSION_ATTEMPTS)
    given: dict[Any, Any] = {_NOW: now, _PK: session_id}
    with binding_cursor() as cursor:
        cursor.execute(
            statement, [token, now + lease_duration(), now, session_id, now, *[given.get(p, p) for p in parameters]]
        )
        if not cursor.rowcount:
            return None
    session: Session = _LEASED.objects(session_id)[0]
    session.fresh = session.started_at == now
    if session.claimed_by != token:
        return None
    pilot = session.run.pilot
    if pilot.state == Pilot.State.WAITING:
        Pilot.objects.filter(pk=pilot.pk, state=Pilot.State.WAITING).update(state=Pilot.State.RUNNING)
    return session


@cache
def _lease_statement(_: int) -> tuple[str, tuple[Any, ...]]:
    """Made once for each number of attempts; takes token, end of the lease, now, key and now, then what is returned
    with it, where ``_NOW`` and ``_PK`` stand for the time and the key.

    The lease is asked for in the row itself as well: of two workers at once the second sees the row as the first left
    it, but not what a subquery would now find.
    """
    inner, parameters = leasable(_NOW).filter(pk=_PK).order_by().values("pk").query.sql_with_params()
    return _LEASE + f"({inner})", tuple(parameters)


@cache
def _keys_statement(of: str, limit: int | None, _: int) -> tuple[str, tuple[Any, ...]]:
    rows = leasable(_NOW).filter(**{of: _PK}).order_by("position").values("pk")[:limit]
    return rows.query.sql_with_params()


def expire_dead() -> int:
    """Expire the leases of dead processes on this machine, so that a restart need not wait for them."""
    dead = [
        token
        for token in Session.objects.filter(
            state=State.RUNNING, claimed_by__startswith=f"{_machine_id()}:"
        ).values_list("claimed_by", flat=True)
        if not Path(f"/proc/{token.split(':')[-2]}").exists()
    ]
    return Session.objects.filter(claimed_by__in=dead, state=State.RUNNING).update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )


@cache
def _machine_id() -> str:
    """Identifies the process-id space: this machine, since its last boot, in this container."""
    try:
        space = Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink("/proc/self/ns/pid")
    except OSError:
        space = uuid.uuid4().hex
    return f"{socket.gethostname()[:60].replace(':', '-')}-{hashlib.sha256(space.encode()).hexdigest()[:12]}"


def leased_row(session: Session) -> QuerySet[Session]:
    """The session's row while the lease holds, else nothing. Every write goes through it."""
    return Session.objects.filter(pk=session.pk, claimed_by=session.claimed_by, state=State.RUNNING)


def lock_leased_row(session: Session) -> None:
    """Lock the row for this transaction. Raises LeaseLostError."""
    if not leased_row(session).select_for_update(no_key=True).values_list("pk").first():
        raise LeaseLostError


def release(session: Session, **changes: object) -> None:
    """End the lease and store ``changes``; does nothing if the lease was lost."""
    leased_row(session).update(claimed_by="", lease_until=None, **changes)


@contextmanager
def renewing(session: Session) -> Iterator[None]:
    _renewer.add(session.claimed_by)
    try:
        yield
    finally:
        _renewer.remove(session.claimed_by)


class _Renewer:
    """One thread that renews all leases of this process, and ends when there are none."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """As new: a forked child needs the same object with a fresh lock and no thread."""
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
                threading.Thread(target=self._run, name="session-leases", daemon=True).start()

    def remove(self, token: str) -> None:
        with self._lock:
            self._tokens.discard(token)
            if not self._tokens:
                self._idle.set()

    def _run(self) -> None:
        try:
            while True:
                self._idle.wait(settings.SESSION_LEASE_SECONDS / 3)
                with self._lock:
                    tokens = list(self._tokens)
                    if not tokens:
                        self._running = False
                        return
                try:
                    Session.objects.filter(claimed_by__in=tokens).update(lease_until=timezone.now() + lease_duration())
                except Exception:  # the database may be back at the next renewal; if not, the lease expires
                    logger.exception("Leases could not be renewed.")
                    connection.close()
                give_back_connection()
        finally:
            connection.close()


_renewer = _Renewer()
os.register_at_fork(after_in_child=_renewer.reset)
