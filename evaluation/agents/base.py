"""What an agent is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluation.llm import ModelClient, Timing
from evaluation.tools import Corpus, World
from evaluation.tools.journal import Journal
from evaluation.tools.toolbox import MoreTools


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
    servers: MoreTools | None = None
    """Tools of servers that the persona binds."""
    journal: Journal | None = None
    """Where tool calls are stored as they are made."""
    corpus: Corpus | None = None
    """The pages that stand for the web; None: no web."""
    limits: AgentLimits = AgentLimits()
    state: Mapping[str, Any] = field(default_factory=dict)
    """The state stored with the last turn of this session; empty at its start."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Those of its kind, as chosen for the pilot."""
    conversation: str = ""
    """Names the session to programs that keep their own state."""
    timing: Timing = field(default_factory=Timing)
    loop: int = 2
    """Version of the agent's loop (docs/agent-loop.md)."""
    helps: bool = False
    """Whether another agent gave it its task."""
