"""Two transactions at the same time, the second on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import Model

T = TypeVar("T")


def is_free(model: type[Model], pk: int) -> bool:
    """Whether another transaction could lock the row at once."""

    def lock() -> bool:
        with suppress(OperationalError), transaction.atomic():
            model._default_manager.select_for_update(nowait=True, no_key=True).get(pk=pk)
            return True
        return False

    return _elsewhere(lock)


def beside(act: Callable[[], T]) -> T:
    """What ``act`` gives in another transaction; raises OperationalError if it has to wait for this one."""

    def hurry() -> T:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '1s'")
            return act()

    return _elsewhere(hurry)


def after(first: Callable[[], object], second: Callable[[], T]) -> T:
    """What ``second`` gives, which begins after ``first`` and before its transaction has ended."""
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first()
            late = pool.submit(_own_connection, second)
            while not late.done() and not _somebody_waits():
                wait([late], timeout=0.01)
        return late.result()


def _elsewhere(act: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1) as pool:
        late: Future[T] = pool.submit(_own_connection, act)
        return late.result()


def _own_connection(act: Callable[[], T]) -> T:
    try:
        return act()
    finally:
        connection.close()


def _somebody_waits() -> bool:
    """For what this transaction holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])
