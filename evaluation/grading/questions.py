"""Decisions of a stored session, judged again as people are asked them in an audit: single ones alone, those of a whole
session together.
"""

from __future__ import annotations

from collections import defaultdict
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
"""Index of the first or only question in a prompt: where it stands in its task is not to be seen."""
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
    """Whether it is asked with the whole record that the packet shows."""
    key: str = ""
    """Of the question in the packet of a whole session; empty: it is asked as of its turn. The status of an intent is
    two questions."""

    @property
    def place(self) -> tuple[str, int, int]:
        return self.kind, self.turn, self.index


def asked_together(questions: Iterable[AskedQuestion]) -> list[list[AskedQuestion]]:
    """By prompt. What is asked twice is there once."""
    found: dict[tuple[str, ...], dict[tuple[str, int, int], AskedQuestion]] = defaultdict(dict)
    for question in {each.place: each for each in questions}.values():
        prompt = (question.packet, question.kind) if question.key else ("", *map(str, question.place))
        found[prompt][question.place] = question
    return [list(rows.values()) for rows in found.values()]


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
    for together in asked_together(questions):
        first, texts = together[0], list(enumerate((each.text for each in together), start=ONLY))
        name = cast(PromptName, first.kind)
        prompt = in_truth(name, record(first), None if first.key else first.turn, texts)
        decisions, call = ask("checklist_strict" if name == "checklist" else name, first.turn, prompt)
        yield [
            judged(each.place, decision, call, label=each.text)
            for each, decision in zip(together, decisions, strict=True)
        ]


def _ask_intent(judge: ModelIntentJudge, task: TaskSpec, question: AskedQuestion, turn: TurnEvidence) -> Answer:
    intents = [OpenIntent(ONLY, question.text)]
    if question.kind == "satisfaction":
        decisions = judge.satisfied(turn.reply, read_texts(task.files_read, turn.read), intents)
    else:
        decisions = judge.asked_for(turn.reply, intents)
    return decisions, judge.calls[question.kind]
