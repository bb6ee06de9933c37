"""Single decisions of a stored session, judged again: what an audit drew, each asked alone, as people are asked it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from evaluation.grading.decided import Decided, judged
from evaluation.grading.evidence import TurnEvidence
from evaluation.grading.judges import Answer, Ask, ModelChecklistJudge, ModelIntentJudge, Versions, intent_judge
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import PromptName
from evaluation.protocol.prompts import in_truth
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import read_texts
from evaluation.protocol.versions import ProtocolName
from studio.domain.task import TaskSpec

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
    """As of a decision."""
    text: str
    """The intent or criterion."""
    in_truth: bool = False
    """Whether it is asked with the whole record, after what its judge was shown."""

    @property
    def place(self) -> tuple[str, int, int]:
        return self.kind, self.turn, self.index

    @property
    def planted_key(self) -> str:
        """Of a question that is planted in a session: its key there."""
        return f"item-{self.index - PLANTED_FROM}"


def decide_questions(
    questions: Iterable[AskedQuestion],
    task: TaskSpec,
    turns: Iterable[TurnEvidence],
    mode: str,
    protocol: ProtocolName,
    ask: Ask,
    versions: Versions,
) -> Iterator[list[Decided]]:
    """``mode``: of a checklist's questions. What is asked twice is decided once. Raises InfrastructureError."""
    by_number = {turn.number: turn for turn in turns}
    over: set[tuple[str, int, int]] = set()
    for question in questions:
        if question.place not in over:
            turn = by_number[question.turn]
            [decision], call = (
                ModelChecklistJudge(ask, versions, protocol)(task, turn, ScoringMode(mode), [(ONLY, question.text)])
                if question.kind == "checklist"
                else _ask_intent(intent_judge(protocol, ask, versions, turn.number, turn.work), task, question, turn)
            )
            yield [judged(question.place, decision, call, label=question.text)]
            over.add(question.place)


def decide_in_truth(
    questions: Iterable[AskedQuestion], record: Callable[[AskedQuestion], str], ask: Ask
) -> Iterator[list[Decided]]:
    """``record``: all that the packet shows, rendered and escaped. Raises InfrastructureError."""
    for question in questions:
        name = cast(PromptName, question.kind)
        prompt = in_truth(name, record(question), question.turn, (ONLY, question.text))
        [decision], call = ask("checklist_strict" if name == "checklist" else name, question.turn, prompt)
        yield [judged(question.place, decision, call, label=question.text)]


def _ask_intent(judge: ModelIntentJudge, task: TaskSpec, question: AskedQuestion, turn: TurnEvidence) -> Answer:
    intents = [OpenIntent(ONLY, question.text)]
    if question.kind == "satisfaction":
        decisions = judge.satisfied(turn.reply, read_texts(task.files_read, turn.read), intents)
    else:
        decisions = judge.asked_for(turn.reply, intents)
    return decisions, judge.calls[question.kind]
