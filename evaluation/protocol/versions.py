"""The two protocols by which sessions are held and judged, and the versions of the agent's loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluation.protocol.clock import MOVING, STANDING, Pace
from evaluation.protocol.scoring import ScoringMode


class ProtocolName(StrEnum):
    """What user and judges see, and how the user speaks."""

    PAPER = "paper"
    """As the paper describes it, and beyond (docs/pibench.md)."""
    RELEASE = "release"
    """As the public code does."""


PROTOCOLS: Mapping[str, str] = {
    "paper": "Judges see files, tool calls and the whole conversation; one score.",
    "release": "As the published code judges, scored as it scores (compat) and without its known errors (strict); for "
    "comparison with published numbers.",
}
CURRENT_LOOPS: Mapping[ProtocolName, int] = {ProtocolName.PAPER: 2, ProtocolName.RELEASE: 1}
"""Version of the agent's loop in new pilots."""


@dataclass(frozen=True)
class Terms:
    """What a pilot's sessions are held under; frozen as it starts."""

    protocol: ProtocolName = ProtocolName.PAPER
    agent_loop: int = CURRENT_LOOPS[ProtocolName.PAPER]

    @classmethod
    def current(cls, protocol: ProtocolName | str) -> Terms:
        return cls(ProtocolName(protocol), CURRENT_LOOPS[ProtocolName(protocol)])

    @property
    def modes(self) -> tuple[ScoringMode, ...]:
        """In which sessions are scored."""
        return tuple(ScoringMode) if self.protocol == ProtocolName.RELEASE else (ScoringMode.STRICT,)

    @property
    def pace(self) -> Pace:
        """How a session's clock goes on."""
        return STANDING if self.protocol == ProtocolName.RELEASE else MOVING

    @property
    def brief_lists(self) -> bool:
        """Whether the simulated apps' lists leave out what is empty."""
        return self.protocol == ProtocolName.PAPER

    @property
    def with_memory(self) -> bool:
        """Whether MEMORY.md is there from the first session on."""
        return self.agent_loop > 1

    def __str__(self) -> str:
        return f"{self.protocol} protocol, agent loop {self.agent_loop}"


def may_be_ranked(terms: Iterable[Terms]) -> bool:
    """Whether what ran under these may stand in one ranking."""
    return len(set(terms)) <= 1
