"""The registry of agents, and what an agent is built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluation.llm import ModelClient, Timing
from evaluation.protocol.participants import Agent
from evaluation.tools import World


@dataclass(frozen=True)
class AgentLimits:
    """0 is no limit. ``tokens`` and ``cost`` apply to a session, the others to a turn."""

    model_calls: int = 100
    tool_calls: int = 200
    turn_tokens: int = 0
    turn_cost: Decimal = Decimal(0)
    turn_seconds: float = 2400
    tokens: int = 2_000_000
    cost: Decimal = Decimal(0)


@dataclass(frozen=True)
class AgentSetup:
    """All that an agent knows besides the messages. It has no room for hidden intents."""

    client: ModelClient
    workspace: Path
    tools: tuple[str, ...] = ()
    """Names that the persona binds; unimplemented ones are not offered."""
    world: World | None = None
    """The simulated apps that the tools act on; None: apps without data."""
    limits: AgentLimits = AgentLimits()
    state: Mapping[str, Any] = field(default_factory=dict)
    """The state stored with the last turn of this session; empty at its start."""
    timing: Timing = field(default_factory=Timing)


AgentFactory = Callable[[AgentSetup], Agent]
_factories: dict[str, AgentFactory] = {}


def register(kind: str, factory: AgentFactory) -> None:
    _factories[kind] = factory


def make_agent(setup: AgentSetup, kind: str = "react") -> Agent:
    try:
        return _factories[kind](setup)
    except KeyError:
        raise LookupError(f"There is no agent {kind!r}; there are {', '.join(sorted(_factories))}.") from None
