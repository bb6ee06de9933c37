"""What came out otherwise in the sessions of one side than in those of another: run by run, item by item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.sessions import ScoredSession
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.benchmark_results import Results
from evaluation.results.decision_rows import Criteria, Decisions, load_criteria, load_decisions

OPEN = "open"


@dataclass(frozen=True)
class FlippedDecision:
    """An intent or criterion that one of two sessions met."""

    name: str
    """``Intent 2`` or ``Criterion 1``."""
    text: str
    before: str
    after: str


@dataclass(frozen=True)
class Flip:
    """Two sessions of one task in which something came out otherwise."""

    persona: str
    task: str
    run: int
    """The how-manieth of the task on both sides, from 1."""
    first: int
    second: int
    rose: Sequence[FlippedDecision]
    fell: Sequence[FlippedDecision]

    @property
    def changes(self) -> int:
        return len(self.rose) + len(self.fell)


@dataclass(frozen=True)
class Flips:
    pairs: int
    """Sessions that stand opposite each other."""
    flipped: Sequence[Flip]
    """Most changes first."""


@dataclass(frozen=True)
class _Outcome:
    name: str
    text: str
    word: str
    is_met: bool


def find_flips(results: Results, first: str, second: str, mode: ScoringMode) -> Flips:
    return results.once(("flips", first, second, mode.value), lambda: _find(results, first, second, mode), Flips)


def _find(results: Results, first: str, second: str, mode: ScoringMode) -> Flips:
    sides = [results.of_side(side) for side in (first, second)]
    keys = {item.row.run[0] for side in sides for item in side}
    pilots = [pilot for pilot in results.pilots if pilot.pk in keys]
    decisions = load_decisions(pilots, [item.row for side in sides for item in side])
    criteria = load_criteria(decisions.rounds.values(), mode)
    ours, theirs = (_by_task(side) for side in sides)
    pairs = 0
    flipped = []
    for (persona, task), sessions in ours.items():
        for number, (left, right) in enumerate(zip(sessions, theirs.get((persona, task), ()), strict=False), start=1):
            if left not in decisions.rows or right not in decisions.rows:
                continue
            pairs += 1
            before, after = (_outcomes(decisions, criteria, key, mode) for key in (left, right))
            changes = [(before[uid], now) for uid, now in after.items() if uid in before]
            rose = [_change(was, now) for was, now in changes if now.is_met and not was.is_met]
            fell = [_change(was, now) for was, now in changes if was.is_met and not now.is_met]
            if rose or fell:
                flipped.append(Flip(persona, task, number, left, right, rose, fell))
    return Flips(pairs, sorted(flipped, key=lambda flip: -flip.changes))


def _by_task(scored: Sequence[ScoredSession]) -> Mapping[tuple[str, str], Sequence[int]]:
    tasks: dict[tuple[str, str], list[tuple[tuple[int, int], int]]] = defaultdict(list)
    for item in scored:
        tasks[item.row.persona, item.row.result.task_id].append((item.row.run, item.row.key))
    return {key: [session for _, session in sorted(rows)] for key, rows in sorted(tasks.items())}


def _outcomes(decisions: Decisions, criteria: Criteria, session: int, mode: ScoringMode) -> dict[str, _Outcome]:
    """By uid."""
    statuses = decisions.statuses[session]
    found = {}
    for index, intent in enumerate(decisions.task(session).hidden, start=1):
        status = statuses.get(index)
        word = status.status if status else OPEN
        found[intent.uid] = _Outcome(f"Intent {index}", intent.content, word, word in COVERED)
    rule = decisions.rule(session, mode)
    for values in criteria.get(session, ()):
        met = rule.credit(values.samples).value
        if met is not None:
            name = f"Criterion {values.index}"
            uid = decisions.uid(session, values)
            found[uid] = _Outcome(name, values.label, "met" if met else "not met", bool(met))
    return found


def _change(before: _Outcome, after: _Outcome) -> FlippedDecision:
    return FlippedDecision(after.name, after.text, before.word, after.word)
