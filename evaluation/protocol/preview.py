"""How the simulated user will behave in a session: the loop itself, with made-up decisions of the judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.protocol.participants import AgentReply, Decision, OpenIntent
from evaluation.protocol.session import MAX_TURNS, Progress, begin, settle
from studio.domain.opening_message import opening_message
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class _Decided:
    """A judge who holds certain intents for satisfied or asked for, whatever the reply."""

    met: Collection[int] = ()
    asked: Collection[int] = ()

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return [Decision(intent.index in self.met) for intent in intents]

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        return [Decision(intent.index in self.asked) for intent in intents]


@dataclass(frozen=True)
class Answer:
    """What the user writes when an intent is asked for, or first of all when nothing is."""

    index: int
    text: str


@dataclass(frozen=True)
class Preview:
    opening: str
    answers: tuple[Answer, ...]
    """To a question that aims at one intent, each by itself."""
    unasked: tuple[Answer, ...]
    """To replies that ask for nothing, turn by turn to the end."""
    both: str
    """To a question that aims at the first two; empty where there are not two."""
    known: tuple[int, ...]
    """Intents that count as provided from the start: the user never speaks of them."""
    most_turns: int
    """Replies the assistant can give before the session ends."""


def preview(task: TaskSpec) -> Preview:
    start = begin(
        opening_message(task),
        [intent.content for intent in task.intents],
        [intent.initial_status == "provided" for intent in task.intents],
    )
    wanted = [intent.index for intent in start.open]
    unasked, progress = [], start
    while progress.ending is None:
        first = progress.open[0].index if progress.open else 0
        progress = _after(progress, _Decided())
        if progress.message:
            unasked.append(Answer(first, progress.message))
    return Preview(
        opening=start.message,
        answers=tuple(Answer(index, _after(start, _Decided(asked=[index])).message) for index in wanted),
        unasked=tuple(unasked),
        both=_after(start, _Decided(asked=wanted[:2])).message if len(wanted) > 1 else "",
        known=tuple(state.index for state in start.intents if state.status == "provided"),
        most_turns=min(len(wanted) + 1, MAX_TURNS),
    )


def _after(progress: Progress, judge: _Decided) -> Progress:
    return settle(progress, AgentReply(""), judge, dict)[1]
