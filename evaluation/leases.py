"""Having workers look for rows to lease, keeping the leases of this process, and ending those of dead ones."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from evaluation.models.leased import Leased, lease_end, process_space
from studio.celery import send

logger = logging.getLogger(__name__)
DISPATCH = "evaluation.tasks.dispatch"
_renewed: dict[str, type[Leased]] = {}
"""What this process works on, by the token of its lease."""
_lock = threading.Lock()
"""Of the above and of the thread."""
_thread: threading.Thread | None = None


def wake_workers() -> None:
    """Once this transaction commits. If the broker cannot be reached, beat has them look soon."""
    transaction.on_commit(lambda: send(DISPATCH), robust=True)


@contextmanager
def renewing(row: Leased) -> Iterator[None]:
    """Renew the row's lease while the block runs. One thread does so for all of this process."""
    global _thread
    with _lock:
        _renewed[row.claimed_by] = type(row)
        if _thread is None or not _thread.is_alive():  # none is alive in a forked child
            _thread = threading.Thread(target=_renew_periodically, name="leases", daemon=True)
            _thread.start()
    try:
        yield
    finally:
        with _lock:
            del _renewed[row.claimed_by]


def expire_dead() -> int:
    """End the leases of dead processes of this machine, so that a restart need not wait for them; returns how many."""
    ended = 0
    for kind in Leased.__subclasses__():
        rows = kind._default_manager.filter(Q(state=kind.LEASED), claimed_by__startswith=f"{process_space()}:")
        tokens = rows.values_list("claimed_by", flat=True)
        dead = [token for token in tokens if not Path(f"/proc/{token.split(':')[-2]}").exists()]
        ended += rows.filter(claimed_by__in=dead).update(lease_until=_past())
    return ended


def give_up() -> None:
    """Let others go on with what this process works on. No attempt is used up."""
    with _lock:
        held = dict(_renewed)
    for kind in set(held.values()):
        tokens = [token for token, of in held.items() if of is kind]
        kind._default_manager.filter(claimed_by__in=tokens).update(
            claimed_by="", lease_until=_past(), attempts=Greatest(F("attempts") - 1, 0)
        )


def _past() -> datetime:
    return timezone.now() - timedelta(seconds=1)


def _renew_periodically() -> None:
    while True:
        threading.Event().wait(settings.SESSION_LEASE_SECONDS / 3)
        with _lock:
            held = dict(_renewed)
        try:
            for kind in set(held.values()):
                tokens = [token for token, of in held.items() if of is kind]
                kind._default_manager.filter(claimed_by__in=tokens).update(lease_until=lease_end())
        except Exception:  # the database may be back at the next renewal; if not, the leases expire
            logger.exception("Leases could not be renewed.")
        finally:
            connection.close()
