"""Checks of many personas, in worker processes."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor

from studio.domain.findings import Finding
from studio.findings.refresh import LoadedPersona, load_personas
from studio.models import Persona

PERSONAS_AT_ONCE = 10
"""Loaded together, and checked by one process."""
MOST_PROCESSES = 4
"""Each remembers up to 150 MB about texts."""
WAITING = 2
"""Parts for each process that are loaded before they are needed, so that memory does not grow with the benchmark."""


def check_personas(personas: Sequence[Persona], *, processes: int | None = None) -> Iterator[Finding]:
    """Current findings of every task. Personas come with their ``benchmark``, whose plan the checks use. By default
    there is a process for each processor; they compute and read nothing."""
    parts = [personas[start : start + PERSONAS_AT_ONCE] for start in range(0, len(personas), PERSONAS_AT_ONCE)]
    processes = min(processes or os.cpu_count() or 1, MOST_PROCESSES, len(parts))
    if processes < 2:
        for part in parts:
            yield from _check(load_personas(part))
        return
    pending: deque[Future[list[Finding]]] = deque()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
        for part in parts:
            pending.append(pool.submit(_check, load_personas(part)))
            if len(pending) > WAITING * processes:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()


def _check(part: list[LoadedPersona]) -> list[Finding]:
    return [finding for persona in part for finding in persona.check()]
