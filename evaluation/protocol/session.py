"""The rules of a session: an agent, a simulated user, and the status of each hidden intent (PIBENCH.md, section 2).

Each turn maps one ``Progress`` to the next. The caller stores the turn in between, and can resume from there in
another process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evaluation.protocol.participants import AgentReply, Decision, IntentJudge, OpenIntent
from evaluation.protocol.voice import User, VerbatimUser, VoicedAnswer
from studio.domain.opening_message import Incoming, opening_of
from studio.domain.task import TaskSpec

Status = Literal["open", "completed", "inferred", "provided"]
Ending = Literal["resolved", "turn_limit", "blocked", "failed"]
"""``blocked``: the user cannot go on, a suspected defect of the task."""

COVERED: frozenset[Status] = frozenset({"completed", "inferred"})
"""Statuses that count for Proc."""
MAX_TURNS = 30
MOST_MISSED = 3
"""Times that an agent cannot go on without the same thing, until the session is blocked."""


@dataclass(frozen=True)
class IntentState:
    """``index`` is the intent's 1-based position."""

    index: int
    content: str
    status: Status = "open"
    turn: int | None = None
    """The turn that resolved it; None if it is open or was provided from the start."""


@dataclass(frozen=True)
class Progress:
    """A session between two turns."""

    intents: tuple[IntentState, ...]
    turns: int = 0
    """Turns taken."""
    message: Incoming = ""
    """The event that opens it, or the user's next message; empty once the session has ended."""
    ending: Ending | None = None
    reason: str = ""
    """One sentence on why it failed or is blocked."""
    missing: tuple[str, ...] = ()
    """What the agent could not go on without and the user could not give, each time."""

    @property
    def open(self) -> tuple[OpenIntent, ...]:
        return tuple(OpenIntent(item.index, item.content) for item in self.intents if item.status == "open")


@dataclass(frozen=True)
class TurnTaken:
    number: int
    message: Incoming
    reply: AgentReply
    satisfied: Mapping[int, Decision]
    """Stage 1, by intent index; empty if no intent was open. Stage 2 (``asked_for``) likewise."""
    asked_for: Mapping[int, Decision]
    resolved: Mapping[int, Status]
    """The intents that this turn gave a terminal status."""
    style: str = ""
    """How the user's next message was put; see ``evaluation.protocol.voice``."""
    missing: str = ""
    """What the agent cannot go on without and the user cannot give."""


def initial_progress(message: Incoming, intents: Sequence[str], provided: Sequence[bool] = ()) -> Progress:
    """A session before its first turn. An intent provided from the start never counts as covered."""
    padded = [*provided, *([False] * (len(intents) - len(provided)))]
    states = (
        IntentState(index, content, "provided" if is_provided else "open")
        for index, (content, is_provided) in enumerate(zip(intents, padded, strict=True), start=1)
    )
    return Progress(tuple(states), message=message)


def opening_progress(task: TaskSpec) -> Progress:
    provided = [intent.initial_status == "provided" for intent in task.intents]
    return initial_progress(opening_of(task), [intent.content for intent in task.intents], provided)


def resolve_turn(
    progress: Progress,
    reply: AgentReply,
    judge: IntentJudge,
    read_files: Callable[[], Mapping[str, str]],
    *,
    max_turns: int = MAX_TURNS,
    user: User | None = None,
) -> tuple[TurnTaken, Progress]:
    """The user's side of a turn: judge the reply, resolve intents, write the next message.

    ``user`` speaks the author's words by default. What a blocked session leaves open counts as provided.
    """
    user = user or VerbatimUser()
    number = progress.turns + 1
    satisfied: dict[int, Decision] = {}
    asked_for: dict[int, Decision] = {}
    resolved: dict[int, Status] = {}
    ended = True
    answer = VoicedAnswer("")

    if open_intents := progress.open:
        satisfied = _by_index(open_intents, judge.satisfied(reply.text, read_files(), open_intents))
        resolved |= {index: "completed" for index, decision in satisfied.items() if decision.yes}
        if still_open := [
            replace(intent, lacks=satisfied[intent.index].reason)
            for intent in open_intents
            if intent.index not in resolved
        ]:
            asked_for = _by_index(still_open, judge.asked_for(reply.text, still_open))
            answered = [intent for intent in still_open if asked_for[intent.index].yes]
            if answered:
                resolved |= {intent.index: "inferred" for intent in answered}
            else:
                answered = [user.choose(still_open)] if number < max_turns else still_open[:1]
                resolved[answered[0].index] = "provided"
            ended = False
            if number < max_turns:  # nobody would hear it
                answer = user.say(answered, [intent for intent in still_open if intent not in answered])

    missing = (*progress.missing, answer.missing) if answer.missing else progress.missing
    blocked = why_blocked(missing)
    if blocked:
        resolved |= {intent.index: "provided" for intent in open_intents if intent.index not in resolved}
    ending: Ending | None = (
        "blocked" if blocked else "resolved" if ended else "turn_limit" if number >= max_turns else None
    )
    intents = tuple(
        replace(item, status=resolved[item.index], turn=number) if item.index in resolved else item
        for item in progress.intents
    )
    taken = TurnTaken(number, progress.message, reply, satisfied, asked_for, resolved, answer.style, answer.missing)
    return taken, Progress(intents, number, "" if ending else answer.text, ending, blocked, missing)


def why_blocked(missing: Sequence[str]) -> str:
    """Empty unless the same thing was missing too often."""
    written = {" ".join(thing.casefold().split()): thing for thing in missing}
    [(thing, times)] = Counter(" ".join(thing.casefold().split()) for thing in missing).most_common(1) or [("", 0)]
    if times < MOST_MISSED:
        return ""
    return f"The agent needed, {times} times, what the user does not have: {written[thing]}."


def _by_index(intents: Sequence[OpenIntent], decisions: Sequence[Decision]) -> dict[int, Decision]:
    return {intent.index: decision for intent, decision in zip(intents, decisions, strict=True)}
