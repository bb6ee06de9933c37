"""The participants of a session.

Hidden intents and checklists go only to the user and the judges: ``Agent.reply`` has no parameter that could carry
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, Protocol, runtime_checkable

from studio.domain.opening_message import Incoming

Style = Literal["clarify", "options"]


@dataclass(frozen=True)
class Tokens:
    """Token usage as services tell it; None: not told. A sum holds what was told, and how many calls told nothing."""

    prompt: int | None = 0
    """All input, with what is ``cached`` and ``cache_written``."""
    completion: int | None = 0
    """All output, with ``reasoning``."""
    cached: int | None = None
    """Input served from a cache."""
    cache_written: int | None = None
    """Input put into a cache, where that has a price of its own."""
    reasoning: int | None = None
    untold: int = 0
    """Calls whose input or output is not counted here."""

    @property
    def total(self) -> int:
        return (self.prompt or 0) + (self.completion or 0)

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            _sum(self.prompt, other.prompt),
            _sum(self.completion, other.completion),
            _sum(self.cached, other.cached),
            _sum(self.cache_written, other.cache_written),
            _sum(self.reasoning, other.reasoning),
            self.untold + other.untold,
        )

    def times(self, by: Decimal) -> Tokens:
        told = {name: count for name, count in vars(self).items() if name != "untold" and count is not None}
        return replace(self, **{name: round(count * by) for name, count in told.items()})


UNTOLD = Tokens(None, None)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


@dataclass(frozen=True)
class ToolRecord:
    name: str
    arguments: Mapping[str, Any]
    result: str
    """As the agent read it."""
    ok: bool = True
    seconds: float = 0.0
    changes: tuple[str, ...] = ()
    """What it changed in an app, a sentence each."""
    key: str = ""
    """Its idempotency key."""
    effects: tuple[Mapping[str, Any], ...] = ()
    """The same as records: ``{app, table, key, before, after}``; None before one is added or after it is deleted."""


@dataclass(frozen=True)
class Aside:
    """Work of an agent beside the conversation: a summary it made, or what it put into its memory."""

    title: str
    text: str


@dataclass(frozen=True)
class Thought:
    """Reasoning behind an answer of the agent's model. Never for users, judges or checks."""

    text: str
    tokens: int | None = None
    """As its service told."""


@dataclass(frozen=True)
class Remark:
    """What an agent said beside its work, before its reply."""

    text: str
    calls: int
    """Tool calls that it had made in the turn by then."""


@dataclass(frozen=True)
class AgentReply:
    text: str
    tool_calls: tuple[ToolRecord, ...] = ()
    tokens: Tokens = Tokens()
    state: Mapping[str, Any] = field(default_factory=dict)
    """JSON that lets the agent resume after this turn in another process; opaque to everyone else."""
    note: str = ""
    """One sentence on why the turn ended early (a limit reached); empty if it did not."""
    aside: tuple[Aside, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A yes or no of a judge, with its evidence."""

    yes: bool
    quote: str = ""
    """Verbatim from the judge's material."""
    reason: str = ""
    supported: bool = False
    """Whether ``quote`` is not empty and occurs in the judge's material."""
    style: Style | None = None
    """Style of a follow-up question, if ``yes``."""


@dataclass(frozen=True)
class OpenIntent:
    """A hidden intent without a terminal status. ``index`` is its 1-based position in the task."""

    index: int
    content: str
    lacks: str = ""
    """Of one that a judge did not find met: what it said."""


class Agent(Protocol):
    """The system under test."""

    def reply(self, message: Incoming) -> AgentReply:
        """Take one turn. Raises AgentError, or InfrastructureError, which is not the agent's fault."""
        ...


@runtime_checkable
class ClosingAgent(Protocol):
    """An agent that has work to do between its sessions."""

    def close(self) -> tuple[Aside, ...]:
        """Called when a session is over and another follows. Raises as ``reply`` does."""
        ...


class IntentJudge(Protocol):
    """Decides which intents a reply satisfies and which it asks for (PIBENCH.md, section 2)."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        """One decision for each intent, in order. Raises InfrastructureError."""
        ...

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        """Likewise, whether the reply contains a targeted question or proposal."""
        ...


class AgentError(Exception):
    """The agent failed to finish its turn."""


class InfrastructureError(Exception):
    """An endpoint, a judge's answer or the sandbox failed. Never counted against the agent."""

    retryable = False
    """Whether the same request may succeed later, without anybody changing anything."""
    hopeless = False
    """Whether the same request fails until somebody changes something, so that it is not worth sending again."""
    retry_after: float | None = None
    """Seconds the endpoint asked to wait."""
    untouched = False
    """Whether a tool call that failed so has surely done nothing."""
