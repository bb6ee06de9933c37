"""Item analysis: how hard each intent and criterion is, and whether it tells strong sessions from weak ones.

Difficulty is the share of sessions that met it. Discrimination is the correlation of meeting it with the share of the
session's other items that were met (corrected item-total correlation): near 0 it tells nothing apart, below 0 strong
sessions miss it more often than weak ones, which is most often a defect of the item.

An item is called a likely defect only where chance hardly explains it: that no or every session met it, though each met
others of its kind as often as it did; or that it goes against the total. Of many items some look odd by chance, so of
those called so at most one in twenty is expected to be sound (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from evaluation.metrics.association import correlation

ItemKind = Literal["intent", "criterion"]
ENOUGH = 6
"""Sessions below which an item is not called a likely defect."""
FALSE_ALARMS = 0.05
"""The share of sound items among those called likely defects that is put up with."""


@dataclass(frozen=True)
class ItemKey:
    persona: str
    task: str
    kind: ItemKind
    uid: str
    """Of the intent or criterion, or the key of a grader script."""


@dataclass(frozen=True)
class ItemDecision:
    """What came of one intent or criterion in one session."""

    session: int
    agent: str
    item: ItemKey
    met: bool


@dataclass(frozen=True)
class ItemFigures:
    item: ItemKey
    n: int
    """Sessions that decided it."""
    met: int
    discrimination: float | None
    """None where all or none met it, or where it is alone in its task."""
    by_agent: Mapping[str, float]
    """The share that met it."""
    p: float | None
    """The chance that a sound item looks as odd; None with too few sessions."""
    suspicion: str = ""
    """Why it is a likely defect; empty if chance explains it."""

    @property
    def share(self) -> float:
        return self.met / self.n

    @property
    def oddity(self) -> str:
        if self.met in (0, self.n):
            return "always met" if self.met else "never met"
        return "against the total"


def analyse_items(decisions: Iterable[ItemDecision]) -> list[ItemFigures]:
    """In order of their first decision."""
    figures = _figures_of_all(decisions)
    highest = _highest_p([row.p for row in figures if row.p is not None])
    return [replace(row, suspicion=row.oddity) if row.p is not None and row.p <= highest else row for row in figures]


def _highest_p(found: Sequence[float]) -> float:
    """Up to which a p counts, by Benjamini and Hochberg's procedure; below 0: none does."""
    ordered = sorted(found)
    return max((p for rank, p in enumerate(ordered, 1) if p <= FALSE_ALARMS * rank / len(ordered)), default=-1.0)


def _figures_of_all(decisions: Iterable[ItemDecision]) -> list[ItemFigures]:
    by_item: dict[ItemKey, list[ItemDecision]] = defaultdict(list)
    totals: dict[tuple[int, ItemKind], list[int]] = defaultdict(lambda: [0, 0])
    for decision in decisions:
        by_item[decision.item].append(decision)
        total = totals[decision.session, decision.item.kind]
        total[0] += decision.met
        total[1] += 1
    return [_figures(item, own, totals) for item, own in by_item.items()]


def _figures(
    item: ItemKey, decisions: Sequence[ItemDecision], totals: Mapping[tuple[int, ItemKind], Sequence[int]]
) -> ItemFigures:
    values, rests, usual = [], [], []
    by_agent: dict[str, list[bool]] = defaultdict(list)
    for decision in decisions:
        by_agent[decision.agent].append(decision.met)
        met, number = totals[decision.session, item.kind]
        usual.append((met - decision.met + 1) / (number + 1))
        if number > 1:
            values.append(float(decision.met))
            rests.append((met - decision.met) / (number - 1))
    n, met_by = len(decisions), sum(decision.met for decision in decisions)
    discrimination = correlation(values, rests)
    return ItemFigures(
        item,
        n,
        met_by,
        discrimination,
        {agent: sum(own) / len(own) for agent, own in sorted(by_agent.items())},
        p=_chance(n, met_by, usual, discrimination) if n >= ENOUGH else None,
    )


def _chance(n: int, met: int, usual: Sequence[float], discrimination: float | None) -> float:
    """``usual``: of each session, how often it met others of the kind, with one more met and one more missed.
    A correlation is told from 0 by Fisher's z."""
    if met == 0:
        return math.prod(1 - rate for rate in usual)
    if met == n:
        return math.prod(usual)
    if discrimination is None:
        return 1.0
    return NormalDist().cdf(math.atanh(max(-0.9999, min(0.9999, discrimination))) * math.sqrt(n - 3))
