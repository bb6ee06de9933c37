"""Decisions on hidden intents, as verdicts and as statuses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction

from evaluation.call_records import CallRecord
from evaluation.grading.evidence import TurnEvidence, load_evidence
from evaluation.grading.judges import ModelIntentJudge
from evaluation.models import Judging, Verdict
from evaluation.protocol.participants import AgentReply, Decision
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import IntentState, Progress, TurnTaken, resolve_turn
from evaluation.protocol.trace import read_texts
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
            stage = 0 if kind == Verdict.Kind.SATISFACTION else 1
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


def judge_intents(judging: Judging, task: TaskSpec, record: CallRecord, hold: Callable[[], object]) -> None:
    """Judge the intents of a stored conversation, turn by turn, each while it was neither met nor said.

    Verdicts of earlier work are kept. Raises InfrastructureError, and what ``hold`` raises.
    """
    session = judging.session
    assert session is not None
    held = {row.index: IntentStatus(row.status, row.turn) for row in session.intents.all()}
    stored: dict[int, set[int]] = defaultdict(set)
    for turn, index, met in judging.verdicts.values_list("turn", "index", "met"):
        stored[turn] |= {index} if met else set()
    over = {index for index, status in held.items() if status.turn == 0}
    for evidence in load_evidence(session, ScoringMode.STRICT):
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
            answered = _judge_turn(judging, task, evidence, progress, record, hold)
        over |= answered | {
            index for index, status in held.items() if status.turn == number and status.status != "completed"
        }


def _judge_turn(
    judging: Judging,
    task: TaskSpec,
    evidence: TurnEvidence,
    progress: Progress,
    record: CallRecord,
    hold: Callable[[], object],
) -> set[int]:
    """The intents that the reply meets or asks for."""
    judge = ModelIntentJudge(judging, record, lambda: evidence.number)
    reply = AgentReply(evidence.reply)
    taken, _ = resolve_turn(progress, reply, judge, lambda: read_texts(task.files_read, evidence.read))
    with transaction.atomic():
        hold()
        Verdict.objects.bulk_create(intent_verdicts(judge, task, taken))
    return _yes(taken.satisfied) | _yes(taken.asked_for)


def _yes(decisions: Mapping[int, Decision]) -> set[int]:
    return {index for index, decision in decisions.items() if decision.yes}


def intent_verdicts(judge: ModelIntentJudge, task: TaskSpec, taken: TurnTaken) -> list[Verdict]:
    stages = ((Verdict.Kind.SATISFACTION, taken.satisfied), (Verdict.Kind.FOLLOW_UP, taken.asked_for))
    return [
        Verdict(
            judging=judge.judging,
            kind=kind,
            turn=taken.number,
            index=index,
            uid=task.intents[index - 1].uid,
            grader="judge",
            met=decision.yes,
            quote=decision.quote,
            reason=decision.reason,
            supported=decision.supported,
            style=decision.style or "",
            model_call_id=judge.calls.get(kind),
        )
        for kind, decisions in stages
        for index, decision in decisions.items()
    ]
