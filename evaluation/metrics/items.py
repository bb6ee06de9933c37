"""Item analysis: how hard each intent and criterion is, and whether it tells strong sessions from weak ones.

Difficulty is the share of sessions that met it. Discrimination is the correlation of meeting it with the share of the
session's other items that were met (corrected item-total correlation): near 0 it tells nothing apart, below 0 strong
sessions miss it more often than weak ones, which is most often a defect of the item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.metrics.association import correlation

ItemKind = Literal["intent", "criterion"]
ENOUGH = 6
"""Sessions below which an item is not called a likely defect."""
AGAINST = -0.1
"""Discrimination below which an item disagrees with the total."""


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

    @property
    def share(self) -> float:
        return self.met / self.n

    @property
    def suspicion(self) -> str:
        """Why it may be a defect; empty if nothing speaks for it."""
        if self.n < ENOUGH:
            return ""
        if self.met == 0:
            return "never met"
        if self.met == self.n:
            return "always met"
        if self.discrimination is not None and self.discrimination < AGAINST:
            return "against the total"
        return ""


def analyse_items(decisions: Iterable[ItemDecision]) -> list[ItemFigures]:
    """In order of their first decision."""
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
    values, rests = [], []
    by_agent: dict[str, list[bool]] = defaultdict(list)
    for decision in decisions:
        by_agent[decision.agent].append(decision.met)
        met, number = totals[decision.session, item.kind]
        if number > 1:
            values.append(float(decision.met))
            rests.append((met - decision.met) / (number - 1))
    return ItemFigures(
        item,
        len(decisions),
        sum(decision.met for decision in decisions),
        correlation(values, rests),
        {agent: sum(own) / len(own) for agent, own in sorted(by_agent.items())},
    )
