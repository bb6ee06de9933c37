"""Checks of many personas, in worker processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from studio.domain.findings import Finding
from studio.findings.processes import CheckProcesses, Result
from studio.findings.refresh import load_personas
from studio.models import Persona

PERSONAS_AT_ONCE = 5
"""Loaded together."""
WAITING = 5
"""Personas for each process that are loaded before they are needed, so that memory does not grow with the benchmark."""


def check_personas(personas: Sequence[Persona], *, processes: int | None = None) -> Iterator[Finding]:
    """Current findings of every task. Personas come with their ``benchmark``, whose plan the checks use. By default
    there is a process for each processor."""
    pending: deque[Result] = deque()
    with CheckProcesses(processes) as workers:
        for start in range(0, len(personas), PERSONAS_AT_ONCE):
            for persona in load_personas(personas[start : start + PERSONAS_AT_ONCE]):
                pending.append(workers.submit(persona.arguments(), tasks=len(persona.tasks)))
            while len(pending) > WAITING * workers.number:
                yield from pending.popleft()()
        while pending:
            yield from pending.popleft()()
