"""What became of each hidden intent and checklist item of a session, with the decisions behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.grading.items import GradedItem, grade_over_turns, items_of
from evaluation.models import Session, SessionIntent, Verdict
from evaluation.protocol.scoring import ScoringMode
from studio.domain.task import HiddenIntent, TaskSpec


@dataclass(frozen=True)
class Mark:
    """An item in one way of scoring."""

    mode: ScoringMode
    status: str
    """``met``, ``not_met``, ``unsupported``, ``ungraded`` or ``waiting``."""
    turn: int | None
    """The turn that credited it."""
    verdict: Verdict | None
    """The decision that settles it."""
    why: str = ""
    """Why there is no value."""


@dataclass(frozen=True)
class IntentStep:
    index: int
    intent: HiddenIntent
    status: str
    """``open`` as long as it has no terminal status."""
    turn: int | None
    verdict: Verdict | None
    decisions: tuple[Verdict, ...]


@dataclass(frozen=True)
class ItemStep:
    item: GradedItem
    marks: tuple[Mark, ...]
    """compat, strict."""
    decisions: tuple[Verdict, ...]

    @property
    def differs(self) -> bool:
        return self.marks[0].status != self.marks[1].status

    @property
    def verdict(self) -> Verdict | None:
        """What the page points to: the strict decision if it is a yes, else the compat one."""
        strict, compat = self.marks[1].verdict, self.marks[0].verdict
        return compat if compat and compat.met and not (strict and strict.met) else strict or compat


def intent_steps(task: TaskSpec, settled: Mapping[int, SessionIntent], verdicts: Iterable[Verdict]) -> list[IntentStep]:
    by_intent: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.kind != Verdict.Kind.CHECKLIST:
            by_intent[verdict.index].append(verdict)
    steps = []
    for index, intent in enumerate(task.intents, start=1):
        row = settled.get(index)
        decisions = by_intent[index]
        deciding = [one for one in decisions if row and one.turn == row.turn]
        yes = next((one for one in deciding if one.met), None)
        steps.append(
            IntentStep(
                index,
                intent,
                row.status if row else "open",
                row.turn if row else None,
                yes or (deciding[-1] if deciding else None),
                tuple(decisions),
            )
        )
    return steps


def item_steps(task: TaskSpec, session: Session, verdicts: Sequence[Verdict]) -> list[ItemStep]:
    checks = [verdict for verdict in verdicts if verdict.kind == Verdict.Kind.CHECKLIST]
    found: dict[tuple[str, int], list[Verdict]] = defaultdict(list)
    for verdict in checks:
        found[verdict.scoring, verdict.index].append(verdict)
    return [
        ItemStep(
            item,
            tuple(_mark(mode, item, session, found[mode, item.index]) for mode in ScoringMode),
            tuple(found[ScoringMode.COMPAT, item.index] + found[ScoringMode.STRICT, item.index]),
        )
        for item in items_of(task, _script_keys(checks))
    ]


def _mark(mode: ScoringMode, item: GradedItem, session: Session, verdicts: Sequence[Verdict]) -> Mark:
    if session.state == Session.State.FAILED:
        if mode == ScoringMode.STRICT:
            return Mark(mode, "not_met", None, None, "The agent failed, so nothing counts as met.")
        return Mark(mode, "ungraded", None, None, "The agent failed, so the session is excluded from the mean.")
    graded = grade_over_turns([(one.turn, one.met) for one in verdicts])
    if not verdicts:
        graded_at = session.graded_compat_at if mode == ScoringMode.COMPAT else session.graded_strict_at
        if graded_at is None:
            return Mark(mode, "waiting", None, None, "Not graded yet.")
        return Mark(mode, "ungraded", None, None, "Its grader is missing.")
    if graded.value is None:
        broken = next((one for one in verdicts if one.met is None), verdicts[-1])
        return Mark(mode, "ungraded", None, broken, broken.error)
    if not graded.value:
        return Mark(mode, "not_met", None, verdicts[-1])
    credited = next(one for one in verdicts if one.met)
    unsupported = item.grader == "rubric" and not credited.supported
    return Mark(mode, "unsupported" if unsupported else "met", graded.turn, credited)


def _script_keys(checks: Sequence[Verdict]) -> list[str] | None:
    """Keys of the grader script as far as they were graded; None: none was."""
    labels = {one.index: one.label.removeprefix("[tools] ") for one in checks if one.uid is None}
    return [label for _, label in sorted(labels.items())] or None
