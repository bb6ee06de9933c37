"""A preview of the simulated user: the session loop run with fixed judge decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.protocol.participants import AgentReply, Decision, OpenIntent
from evaluation.protocol.session import MAX_TURNS, Progress, opening_progress, resolve_turn
from studio.domain.opening_message import text_of
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class _FixedJudge:
    """Makes the same decisions for every reply."""

    met: Collection[int] = ()
    asked: Collection[int] = ()

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return [Decision(intent.index in self.met) for intent in intents]

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        return [Decision(intent.index in self.asked) for intent in intents]


@dataclass(frozen=True)
class UserAnswer:
    """The user's message about the intent ``index``."""

    index: int
    text: str


@dataclass(frozen=True)
class UserPreview:
    opening: str
    answers: tuple[UserAnswer, ...]
    """If a question aims at one intent: one answer per intent."""
    unasked: tuple[UserAnswer, ...]
    """If no reply asks for anything: turn by turn to the end."""
    both: str
    """If a question aims at the first two intents; empty if there are fewer."""
    provided: tuple[int, ...]
    """Intents provided from the start, which the user never mentions."""
    max_turns: int
    """Replies the assistant can give before the session ends."""


def preview_user(task: TaskSpec) -> UserPreview:
    start = opening_progress(task)
    open_indexes = [intent.index for intent in start.open]
    unasked, progress = [], start
    while progress.ending is None:
        first = progress.open[0].index if progress.open else 0
        progress = _after(progress, _FixedJudge())
        if progress.message:
            unasked.append(UserAnswer(first, text_of(progress.message)))
    return UserPreview(
        opening=text_of(start.message),
        answers=tuple(
            UserAnswer(index, text_of(_after(start, _FixedJudge(asked=[index])).message)) for index in open_indexes
        ),
        unasked=tuple(unasked),
        both=text_of(_after(start, _FixedJudge(asked=open_indexes[:2])).message) if len(open_indexes) > 1 else "",
        provided=tuple(state.index for state in start.intents if state.status == "provided"),
        max_turns=min(len(open_indexes) + 1, MAX_TURNS),
    )


def _after(progress: Progress, judge: _FixedJudge) -> Progress:
    return resolve_turn(progress, AgentReply(""), judge, dict)[1]
