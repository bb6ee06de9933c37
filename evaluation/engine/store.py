"""Where a session is kept, as far as the engine knows.

Whoever opens a store holds the session; a store raises once somebody else does, and then keeps nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from evaluation.engine.journal import MadeCalls
from evaluation.grading.decided import Decided
from evaluation.grading.session import SessionGrade
from evaluation.grading.work import Conversation, PlayedTurn
from evaluation.llm import Call
from evaluation.protocol.participants import AgentReply, Aside
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import Progress, TurnTaken
from evaluation.workspaces.app_states import AppHashes
from evaluation.workspaces.manifests import Manifest


@dataclass(frozen=True)
class Standing:
    """Where a session stands: what it goes on from."""

    progress: Progress
    files: Manifest
    """With the task's own, before the first turn."""
    apps: AppHashes
    conversation: Conversation
    """So far, for judges."""
    agent_state: Mapping[str, Any] = field(default_factory=dict)
    said_earlier: Sequence[str] = ()
    """What the user said in earlier sessions of the run."""
    replied: Replied | None = None
    """The agent's part of the turn that comes next, if it is kept already."""


@dataclass(frozen=True)
class Checkpoint:
    """All that a turn leaves."""

    taken: TurnTaken
    after: Progress
    decided: Sequence[Decided]
    """On intents."""
    files: Manifest
    apps: AppHashes
    seconds: float
    """That the agent took."""

    @property
    def played(self) -> PlayedTurn:
        reply = self.taken.reply
        return PlayedTurn(self.taken.number, self.taken.message, reply.text, reply.tool_calls, self.files)


@dataclass(frozen=True)
class Replied:
    """The agent's part of a turn, and what it left."""

    reply: AgentReply
    files: Manifest
    apps: AppHashes
    seconds: float = 0.0


@dataclass(frozen=True)
class Closing:
    """What the agent did and left after the last turn, for the sessions that follow."""

    aside: Sequence[Aside]
    files: Manifest
    apps: AppHashes


class Store(Protocol):
    @property
    def made(self) -> MadeCalls:
        """Tool calls of the turn under way."""
        ...

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        """What a model answered to the same request before."""
        ...

    def check(self, purpose: str, worst: Decimal | None) -> None:
        """Called before a model is asked for it, which costs ``worst`` at most, if that is known. Raises if nothing may
        be sent any more."""
        ...

    def call(self, call: Call, purpose: str, turn: int) -> None:
        """Keep an answered or failed request, whatever becomes of its turn: it was paid for."""
        ...

    def read(self, sha256s: Sequence[str]) -> Mapping[str, bytes]:
        """Contents of files, as far as they are stored."""
        ...

    def keep(self, contents: Sequence[bytes]) -> Sequence[str]:
        """Their sha256, in order."""
        ...

    def turn(self, checkpoint: Checkpoint) -> None:
        """Keep the whole turn or nothing, and forget the tool calls made in it."""
        ...

    def end(self, progress: Progress, closing: Closing | None) -> None:
        """The conversation is over."""
        ...

    def verdicts(self, mode: ScoringMode, decided: Sequence[Decided]) -> None:
        """Keep all of them or none."""
        ...

    def finish(self, grades: Mapping[ScoringMode, SessionGrade]) -> None:
        """Nothing is left to do now, or compat waits for other sessions of the run."""
        ...


class SeatStore(Store, Protocol):
    """For a session with a person in a seat."""

    def reply(self, progress: Progress, replied: Replied) -> None:
        """Keep the agent's part of the turn after ``progress``, in place of what was kept of it before."""
        ...

    def propose(self, decided: Sequence[Decided]) -> None:
        """Keep what the judge would decide on that reply."""
        ...
