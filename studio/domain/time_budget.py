"""A budget of processor time: work that asks ``check_time`` now and then stops when it is spent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TimeBudgetError(Exception):
    """The time budget is spent."""


@contextmanager
def time_budget(seconds: float) -> Iterator[None]:
    """Inside, ``check_time`` raises TimeBudgetError once this thread has computed for so long."""
    token = _deadline.set(thread_time() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    deadline = _deadline.get()
    if deadline is not None and thread_time() > deadline:
        raise TimeBudgetError
