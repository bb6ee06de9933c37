"""What came out otherwise in the sessions of one side than in those of another: run by run, item by item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.sessions import ScoredSession
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.benchmark_results import Results
from evaluation.results.loading import DecidedSession


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
    return results.once(("flips", first, second, mode.value), lambda: _find(results, first, second, mode))


def _find(results: Results, first: str, second: str, mode: ScoringMode) -> Flips:
    ours, theirs = (_by_task(results.of_side(side)) for side in (first, second))
    pairs = 0
    flipped = []
    for (persona, task), sessions in ours.items():
        for number, (left, right) in enumerate(zip(sessions, theirs.get((persona, task), ()), strict=False), start=1):
            if left not in results.decisions or right not in results.decisions:
                continue
            pairs += 1
            before, after = (_outcomes(results.decisions[key], mode) for key in (left, right))
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


def _outcomes(session: DecidedSession, mode: ScoringMode) -> dict[str, _Outcome]:
    """By uid."""
    found = {}
    for index, intent in enumerate(session.task.intents, start=1):
        status = session.judged.status(index).status
        found[intent.uid] = _Outcome(f"Intent {index}", intent.content, status, status in COVERED)
    for item, met in session.criteria(mode):
        if met is not None:
            word = "met" if met else "not met"
            found[item.uid or item.criterion] = _Outcome(f"Criterion {item.index}", item.criterion, word, met)
    return found


def _change(before: _Outcome, after: _Outcome) -> FlippedDecision:
    return FlippedDecision(after.name, after.text, before.word, after.word)
