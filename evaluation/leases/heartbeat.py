"""A sign of life: while a block runs, its lease is renewed now and then by a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

logger = logging.getLogger(__name__)


def lease_end() -> datetime:
    """Until when who takes something up now need not be heard of."""
    return timezone.now() + timedelta(seconds=settings.SESSION_LEASE_SECONDS)


@contextmanager
def heartbeat(renew: Callable[[], object], name: str) -> Iterator[None]:
    """Calls ``renew`` three times a lease, on a connection of its own. ``name`` says in the log what it is."""
    over = threading.Event()

    def beat() -> None:
        try:
            while not over.wait(settings.SESSION_LEASE_SECONDS / 3):
                try:
                    renew()
                except Exception:  # the database may be back at the next beat
                    logger.exception("The lease of a %s could not be renewed.", name)
                    connection.close()
        finally:
            connection.close()

    threading.Thread(target=beat, name=f"{name}-lease", daemon=True).start()
    try:
        yield
    finally:
        over.set()
