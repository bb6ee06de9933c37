"""Single decisions of a stored session, judged again: what an audit drew, each asked alone, as people are asked it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from evaluation.call_records import CallRecord
from evaluation.grading.evidence import TurnEvidence, load_evidence
from evaluation.grading.judges import ModelChecklistJudge, ModelIntentJudge
from evaluation.grading.session import ask_criteria
from evaluation.models import Judging, Verdict
from evaluation.protocol.participants import Decision, OpenIntent
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import read_texts
from studio.domain.task import TaskSpec

Kind = Verdict.Kind
ONLY = 1
"""Index of the only question in a prompt: where it stands in its task is not to be seen."""
PLANTED_FROM = 20_000
"""Planted questions are decided with indexes above this, which no item of a task has."""


@dataclass(frozen=True)
class AskedQuestion:
    packet: str
    """Source of the audit's packet."""
    kind: str
    turn: int
    index: int
    """As of a verdict."""
    text: str
    """The intent or criterion."""

    @property
    def place(self) -> tuple[str, int, int]:
        return self.kind, self.turn, self.index

    @property
    def planted_key(self) -> str:
        """Of a question that is planted in a session: its key there."""
        return f"item-{self.index - PLANTED_FROM}"


def questions_of(judging: Judging) -> list[AskedQuestion]:
    return [AskedQuestion(**row) for row in judging.asked or ()]


def judge_questions(judging: Judging, task: TaskSpec, record: CallRecord, hold: Callable[[], object]) -> None:
    """Verdicts of earlier work are kept. Raises InfrastructureError, and what ``hold`` raises."""
    session = judging.session
    assert session is not None
    turns = {row.number: row for row in load_evidence(session, ScoringMode.STRICT)}
    stored = set(judging.verdicts.values_list("kind", "turn", "index"))
    for question in questions_of(judging):
        if question.place not in stored:
            decision, call = _ask(judging, task, record, question, turns[question.turn])
            verdict = _verdict(judging, question, decision, call)
            with transaction.atomic():
                hold()
                verdict.save(force_insert=True)
            stored.add(question.place)


def _ask(
    judging: Judging, task: TaskSpec, record: CallRecord, question: AskedQuestion, turn: TurnEvidence
) -> tuple[Decision, int]:
    if question.kind == Kind.CHECKLIST:
        criteria = [(ONLY, question.text)]
        decisions, call = ask_criteria(
            ModelChecklistJudge(judging, record), task, turn, ScoringMode(judging.scoring), criteria
        )
        return decisions[0], call
    judge = ModelIntentJudge(judging, record, lambda: turn.number)
    intents = [OpenIntent(ONLY, question.text)]
    if question.kind == Kind.SATISFACTION:
        decisions = judge.satisfied(turn.reply, read_texts(task.files_read, turn.read), intents)
    else:
        decisions = judge.asked_for(turn.reply, intents)
    return decisions[0], judge.calls[question.kind]


def _verdict(judging: Judging, question: AskedQuestion, decision: Decision, call: int) -> Verdict:
    return Verdict(
        judging=judging,
        kind=question.kind,
        turn=question.turn,
        index=question.index,
        label=question.text,
        grader="rubric" if question.kind == Kind.CHECKLIST else "judge",
        met=decision.yes,
        quote=decision.quote,
        reason=decision.reason,
        supported=decision.supported,
        style=decision.style or "",
        model_call_id=call,
    )
