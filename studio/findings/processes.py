"""Worker processes that run checks. They compute and read nothing, so a transaction's rows need not be visible."""

from __future__ import annotations

import gc
import multiprocessing
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from functools import partial
from typing import Any, Self

from studio.domain.checks import find_problems
from studio.domain.findings import Finding

MOST_PROCESSES = 4
"""Each remembers up to 150 MB about texts."""
NEW_VALUES = 50_000
"""After which a process looks for garbage."""
FEW_TASKS = 60
"""Are checked before processes would have started."""

Result = Callable[[], list[Finding]]


class CheckProcesses:
    """Started once more than a few tasks are submitted, and ended with the block. On a machine with one processor,
    everything is checked in this process."""

    def __init__(self, processes: int | None = None) -> None:
        self.number = min(processes or len(os.sched_getaffinity(0)), MOST_PROCESSES)
        self._few = FEW_TASKS if processes is None else 0
        self._tasks = 0
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def submit(self, arguments: Mapping[str, Any], *, tasks: int) -> Result:
        """Of ``find_problems``; ``tasks``: how many the rules have to read."""
        self._tasks += tasks
        here = partial(find_problems, **arguments)
        if self.number < 2 or self._tasks <= self._few or multiprocessing.current_process().daemon:
            return here
        try:
            if self._pool is None:
                context = multiprocessing.get_context(_start_method())
                self._pool = ProcessPoolExecutor(self.number, mp_context=context, initializer=_collect_seldom)
            return partial(_result, self._pool.submit(find_problems, **arguments), here)
        except (BrokenExecutor, OSError):  # one died, or the machine allows none
            return here


def _collect_seldom() -> None:
    """Checks make a great many small values and no cycles of note, which the garbage collector would look through again
    and again."""
    gc.enable()  # which an import has stopped
    gc.freeze()
    gc.set_threshold(NEW_VALUES, 20, 20)


def _start_method() -> str:
    """A copy of this process knows its word lists already, but other threads' locks would stay locked in it."""
    return "fork" if threading.active_count() == 1 else "spawn"


def _result(future: Future[list[Finding]], here: Result) -> list[Finding]:
    try:
        return future.result()
    except BrokenExecutor:  # the machine ended a process, for want of memory say
        return here()
