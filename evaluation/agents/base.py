"""What an agent is made from, and the agents there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluation.llm import ModelClient, Timing
from evaluation.protocol.participants import Agent


@dataclass(frozen=True)
class AgentLimits:
    """0 is no limit. ``tokens`` and ``cost`` are of the session, the others of a turn."""

    model_calls: int = 100
    tool_calls: int = 200
    turn_tokens: int = 0
    turn_cost: Decimal = Decimal(0)
    turn_seconds: float = 2400
    tokens: int = 2_000_000
    cost: Decimal = Decimal(0)


@dataclass(frozen=True)
class AgentSetup:
    """All that an agent gets to know besides the messages. There is no room for hidden intents here."""

    client: ModelClient
    workspace: Path
    tools: tuple[str, ...] = ()
    """Names the persona binds; those that are not built are not offered."""
    limits: AgentLimits = AgentLimits()
    state: Mapping[str, Any] = field(default_factory=dict)
    """Of the last stored turn of this session; empty at its start."""
    timing: Timing = field(default_factory=Timing)


Maker = Callable[[AgentSetup], Agent]
_makers: dict[str, Maker] = {}


def register(kind: str, maker: Maker) -> None:
    _makers[kind] = maker


def make_agent(setup: AgentSetup, kind: str = "react") -> Agent:
    """An agent ready for its next turn. Raises LookupError for a kind there is not."""
    try:
        return _makers[kind](setup)
    except KeyError:
        raise LookupError(f"There is no agent {kind!r}; there are {', '.join(sorted(_makers))}.") from None
