"""Transactions that are repeated when PostgreSQL ends them to resolve a deadlock."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

P = ParamSpec("P")
R = TypeVar("R")
DEADLOCK_DETECTED = "40P01"
REPEATS = 3
PAUSE_SECONDS = 0.05
"""At most, before the first repeat; twice and three times as long before the others."""
logger = logging.getLogger(__name__)


def atomic_with_retry(function: Callable[P, R]) -> Callable[P, R]:
    """Like ``transaction.atomic``, but run again after a deadlock, up to ``REPEATS`` times.

    For functions that read their rows again and have no effect outside the database other than by ``on_commit``. Inside
    another transaction nothing is repeated: locks taken before would still be held.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        repeats = 0 if connection.in_atomic_block else REPEATS
        for attempt in range(1, repeats + 1):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                if not is_deadlock(error):
                    raise
                logger.warning("Repeating %s after a deadlock.", function.__qualname__)
            # At once, it could lock its first row again before the other has noticed that this is free.
            time.sleep(random.uniform(0, PAUSE_SECONDS) * attempt)
        with transaction.atomic():
            return function(*args, **kwargs)

    return run


def try_lock(key: int) -> bool:
    """Take the advisory lock ``key`` until the end of this transaction; False if somebody has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [key])
        return bool(cursor.fetchone()[0])


def is_away(error: BaseException | None) -> bool:
    """Whether the database cannot be reached, or ended the connection: it was stopped, or is starting."""
    if isinstance(error, InterfaceError):
        return True
    state = getattr(getattr(error, "__cause__", None), "sqlstate", None) or ""
    return isinstance(error, OperationalError) and (not state or state.startswith(("08", "57P")))


def is_deadlock(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) == DEADLOCK_DETECTED
