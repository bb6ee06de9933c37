"""A budget of processor time: work that asks ``check_time`` now and then stops when it is spent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter, thread_time


class TimeBudgetError(Exception):
    """The time budget is spent."""


@dataclass(slots=True)
class _Budget:
    deadline: float
    """By this thread's processor time."""
    unspent_until: float = 0.0
    """By the clock, which runs at least as fast: until then there is no need to ask the system, which takes long."""


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def time_budget(seconds: float) -> Iterator[None]:
    """Inside, ``check_time`` raises TimeBudgetError once this thread has computed for so long."""
    token = _budget.set(_Budget(thread_time() + seconds))
    try:
        yield
    finally:
        _budget.reset(token)


def check_time() -> None:
    budget = _budget.get()
    if budget is None or (now := perf_counter()) < budget.unspent_until:
        return
    left = budget.deadline - thread_time()
    if left < 0:
        raise TimeBudgetError
    budget.unspent_until = now + left
