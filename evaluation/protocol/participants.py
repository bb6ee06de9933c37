"""Who takes part in a session, as the loop sees them.

The hidden intents and the checklist go to the user and the judges. ``Agent.reply`` has no parameter
that could carry them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Style = Literal["clarify", "options"]


@dataclass(frozen=True)
class Tokens:
    """What calls to a model used, as the endpoint reported it."""

    prompt: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)


@dataclass(frozen=True)
class ToolRecord:
    """One tool call of the agent, with what came back."""

    name: str
    arguments: Mapping[str, Any]
    result: str
    """The tool's answer as the agent read it."""
    ok: bool = True
    seconds: float = 0.0


@dataclass(frozen=True)
class AgentReply:
    """What the agent did and said in one turn."""

    text: str
    tool_calls: tuple[ToolRecord, ...] = ()
    tokens: Tokens = Tokens()
    state: Mapping[str, Any] = field(default_factory=dict)
    """What the adapter needs to go on after this turn in another process: JSON, opaque to everyone else."""
    note: str = ""
    """Why the turn ended early, if it did (a limit reached), in a sentence."""


@dataclass(frozen=True)
class Decision:
    """One yes or no of a judge, with what it pointed to."""

    yes: bool
    quote: str = ""
    """Verbatim from what the judge was shown."""
    reason: str = ""
    supported: bool = False
    """True if ``quote`` is not empty and occurs in what the judge was shown."""
    style: Style | None = None
    """Of a follow-up question, when ``yes``."""


@dataclass(frozen=True)
class OpenIntent:
    """A hidden intent without a terminal status. ``index`` is its 1-based position in the task."""

    index: int
    content: str


class Agent(Protocol):
    """The system under test."""

    def reply(self, message: str) -> AgentReply:
        """Take one turn. Raises AgentError (its fault) or InfrastructureError (ours)."""
        ...


class IntentJudge(Protocol):
    """The user's side of a turn: what was satisfied, what was asked for (PIBENCH.md, section 2)."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        """One decision for each intent, in their order. Raises InfrastructureError."""
        ...

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        """Likewise, for a targeted question or proposal. Raises InfrastructureError."""
        ...


class AgentError(Exception):
    """The agent could not finish its turn, and it is the agent's own failure. The text says why."""


class InfrastructureError(Exception):
    """Something of ours failed: an endpoint, a judge's answer, the sandbox. Never counted against the agent."""
