"""Decisions on hidden intents, and the statuses they come to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from evaluation.grading.decided import Decided, Known, judged
from evaluation.grading.evidence import TurnEvidence
from evaluation.grading.judges import Ask, Versions, intent_judge
from evaluation.protocol.participants import AgentReply, Decision
from evaluation.protocol.session import IntentState, Progress, TurnTaken, resolve_turn
from evaluation.protocol.trace import read_texts
from evaluation.protocol.versions import ProtocolName
from studio.domain.task import TaskSpec

IntentDecision = tuple[str, int, int, bool | None]
"""Kind, turn, index, and whether it is met."""
_RANKS = {"completed": 0, "inferred": 0, "provided": 1, "open": 2}


@dataclass(frozen=True)
class IntentStatus:
    status: str
    turn: int
    """0: provided from the start."""

    def rank(self) -> tuple[int, int]:
        return _RANKS[self.status], self.turn


def derive_statuses(told: Mapping[int, IntentStatus], decisions: Iterable[IntentDecision]) -> dict[int, IntentStatus]:
    """The terminal statuses that ``decisions`` come to in a conversation as it was held.

    ``told`` are the statuses with which it was held: an inferred or provided intent was said by the user after that
    turn, so a later decision on it does not count. An intent neither met nor said stays open and is left out.
    """
    earliest: dict[int, tuple[int, int]] = {}
    for kind, turn, index, met in decisions:
        if met:
            stage = 0 if kind == "satisfaction" else 1
            earliest[index] = min(earliest.get(index, (turn, stage)), (turn, stage))
    statuses: dict[int, IntentStatus] = {}
    for index in {*told, *earliest}:
        before = told.get(index)
        said = before.turn if before and before.status != "completed" else None
        if index in earliest and (said is None or earliest[index][0] <= said):
            turn, stage = earliest[index]
            statuses[index] = IntentStatus(("completed", "inferred")[stage], turn)
        elif said is not None:
            statuses[index] = IntentStatus("provided", said)
    return statuses


def decide_intents(
    task: TaskSpec,
    turns: Iterable[TurnEvidence],
    held: Mapping[int, IntentStatus],
    protocol: ProtocolName,
    ask: Ask,
    versions: Versions,
    known: Known,
) -> Iterator[list[Decided]]:
    """Judge the intents of a conversation as it was held, turn by turn, each while it was neither met nor said.

    ``held`` are the statuses with which it ended. What is known already is not asked again. Raises
    InfrastructureError.
    """
    stored: dict[int, set[int]] = defaultdict(set)
    for (_, turn, index), met in known.items():
        stored[turn] |= {index} if met else set()
    over = {index for index, status in held.items() if status.turn == 0}
    for evidence in turns:
        number = evidence.number
        if number in stored:
            answered = stored[number]
        else:
            states = (
                IntentState(index, intent.content)
                for index, intent in enumerate(task.intents, start=1)
                if index not in over
            )
            progress = Progress(tuple(states), number - 1)
            if not progress.open:
                return
            judge = intent_judge(protocol, ask, versions, number, evidence.work)
            files = partial(read_texts, task.files_read, evidence.read)
            taken, _ = resolve_turn(progress, AgentReply(evidence.reply), judge, files)
            yield intents_decided(judge.calls, task, taken)
            answered = _yes(taken.satisfied) | _yes(taken.asked_for)
        over |= answered | {
            index for index, status in held.items() if status.turn == number and status.status != "completed"
        }


def _yes(decisions: Mapping[int, Decision]) -> set[int]:
    return {index for index, decision in decisions.items() if decision.yes}


def intents_decided(calls: Mapping[str, str], task: TaskSpec, taken: TurnTaken) -> list[Decided]:
    """``calls``: hash of the judge's request, by kind."""
    stages = (("satisfaction", taken.satisfied), ("follow_up", taken.asked_for))
    return [
        judged((kind, taken.number, index), decision, calls.get(kind, ""), uid=task.intents[index - 1].uid)
        for kind, decisions in stages
        for index, decision in decisions.items()
    ]
