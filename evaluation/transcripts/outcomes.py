"""Outcomes of a session's hidden intents and checklist items, with the verdicts behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.grading.credit import CreditRule
from evaluation.grading.intents import IntentStatus
from evaluation.grading.items import GradedItem, items_of
from evaluation.judging.judgings import Rules
from evaluation.models import Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from studio.domain.task import HiddenIntent, TaskSpec


@dataclass(frozen=True)
class ScoredOutcome:
    mode: ScoringMode
    status: str
    """``met``, ``not_met``, ``regressed``, ``unsupported``, ``ungraded`` or ``waiting``."""
    turn: int | None
    """The first turn in which it was met."""
    verdict: Verdict | None
    why: str = ""
    """Why there is no verdict."""


@dataclass(frozen=True)
class IntentOutcome:
    index: int
    intent: HiddenIntent
    status: str
    """``open`` without a terminal status."""
    turn: int | None
    verdict: Verdict | None
    decisions: tuple[Verdict, ...]
    in_request: bool = False
    """Whether the request said it in full."""


@dataclass(frozen=True)
class ItemOutcome:
    item: GradedItem
    scored: tuple[ScoredOutcome, ...]
    """compat under the release, and last strict."""
    decisions: tuple[Verdict, ...]

    @property
    def failed(self) -> bool:
        return any(scored.status in ("not_met", "regressed") for scored in self.scored)

    @property
    def differs(self) -> bool:
        return self.scored[0].status != self.strict.status

    @property
    def strict(self) -> ScoredOutcome:
        return self.scored[-1]

    @property
    def verdict(self) -> Verdict | None:
        """The strict verdict if it is met; else the compat verdict if that is met."""
        strict, compat = self.strict.verdict, self.scored[0].verdict
        return compat if compat and compat.met and not (strict and strict.met) else strict or compat


def intent_outcomes(
    task: TaskSpec, resolved: Mapping[int, IntentStatus], verdicts: Iterable[Verdict], said: Collection[int]
) -> list[IntentOutcome]:
    """``said``: indexes of those that the request said in full."""
    by_intent: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.kind != Verdict.Kind.CHECKLIST:
            by_intent[verdict.index].append(verdict)
    outcomes = []
    for index, intent in enumerate(task.intents, start=1):
        row = resolved.get(index)
        decisions = by_intent[index]
        in_turn = [verdict for verdict in decisions if row and verdict.turn == row.turn]
        met = next((verdict for verdict in in_turn if verdict.counts_as), None)
        outcomes.append(
            IntentOutcome(
                index,
                intent,
                row.status if row else "open",
                row.turn if row else None,
                met or (in_turn[-1] if in_turn else None),
                tuple(decisions),
                index in said,
            )
        )
    return outcomes


def item_outcomes(task: TaskSpec, session: Session, verdicts: Sequence[Verdict], rules: Rules) -> list[ItemOutcome]:
    checks = [verdict for verdict in verdicts if verdict.kind == Verdict.Kind.CHECKLIST]
    by_item: dict[tuple[str, int], list[Verdict]] = defaultdict(list)
    for verdict in checks:
        by_item[verdict.scoring, verdict.index].append(verdict)
    modes = [mode for mode in ScoringMode if mode in session.run.terms.modes]
    return [
        ItemOutcome(
            item,
            tuple(_scored_outcome(mode, item, session, by_item[mode, item.index], rules[mode]) for mode in modes),
            tuple(by_item["compat", item.index] + by_item["strict", item.index]),
        )
        for item in items_of(task, _script_keys(checks))
    ]


def _scored_outcome(
    mode: ScoringMode, item: GradedItem, session: Session, verdicts: Sequence[Verdict], rule: CreditRule
) -> ScoredOutcome:
    if session.state == Session.State.FAILED:
        if mode == ScoringMode.STRICT:
            return ScoredOutcome(mode, "not_met", None, None, "The agent failed, so nothing counts as met.")
        return ScoredOutcome(
            mode, "ungraded", None, None, "The agent failed, so the session is excluded from the mean."
        )
    samples: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    for verdict in verdicts:
        samples[verdict.judging.sample].append((verdict.turn, verdict.counts_as))
    graded = rule.credit([values for _, values in sorted(samples.items())])
    if not verdicts:
        graded_at = session.graded_compat_at if mode == ScoringMode.COMPAT else session.graded_strict_at
        if graded_at is None:
            return ScoredOutcome(mode, "waiting", None, None, "Not graded yet.")
        return ScoredOutcome(mode, "ungraded", None, None, "Its grader is missing.")
    if graded.value is None:
        broken = next((verdict for verdict in verdicts if verdict.counts_as is None), verdicts[-1])
        return ScoredOutcome(mode, "ungraded", None, broken, broken.error)
    if not graded.value:
        return ScoredOutcome(mode, "regressed" if graded.regressed else "not_met", None, verdicts[-1])
    met = [verdict for verdict in verdicts if verdict.counts_as]
    credited = next((verdict for verdict in met if verdict.turn == graded.turn), met[0])
    unsupported = item.grader == "rubric" and not credited.supported
    return ScoredOutcome(mode, "unsupported" if unsupported else "met", graded.turn, credited)


def _script_keys(checks: Sequence[Verdict]) -> list[str] | None:
    labels = {verdict.index: verdict.label.removeprefix("[tools] ") for verdict in checks if verdict.uid is None}
    return [label for _, label in sorted(labels.items())] or None
