"""Transactions that are repeated once when PostgreSQL ends them to resolve a deadlock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction

P = ParamSpec("P")
R = TypeVar("R")
DEADLOCK_DETECTED = "40P01"
logger = logging.getLogger(__name__)


def atomic_with_retry(function: Callable[P, R]) -> Callable[P, R]:
    """Like ``transaction.atomic``, but run a second time after a deadlock.

    For functions that read their rows again and have no effect outside the database other than by ``on_commit``. Inside
    another transaction nothing is repeated: locks taken before would still be held.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        outermost = not connection.in_atomic_block
        try:
            with transaction.atomic():
                return function(*args, **kwargs)
        except OperationalError as error:
            if not (outermost and is_deadlock(error)):
                raise
            logger.warning("Repeating %s after a deadlock.", function.__qualname__)
        with transaction.atomic():
            return function(*args, **kwargs)

    return run


def is_deadlock(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", None) == DEADLOCK_DETECTED
