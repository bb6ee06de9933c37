"""Renewing a lease in the background while a block runs."""

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
    return timezone.now() + timedelta(seconds=settings.SESSION_LEASE_SECONDS)


@contextmanager
def heartbeat(renew: Callable[[], object], name: str) -> Iterator[None]:
    """Call ``renew`` three times per lease period, in a thread with its own connection. ``name`` is for the log."""
    stopped = threading.Event()

    def renew_periodically() -> None:
        try:
            while not stopped.wait(settings.SESSION_LEASE_SECONDS / 3):
                try:
                    renew()
                except Exception:  # the database may be back next time
                    logger.exception("The lease of a %s could not be renewed.", name)
                    connection.close()
        finally:
            connection.close()

    threading.Thread(target=renew_periodically, name=f"{name}-lease", daemon=True).start()
    try:
        yield
    finally:
        stopped.set()
