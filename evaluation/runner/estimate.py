"""What a run will probably use, from earlier results of the same tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.llm import Prices
from evaluation.metrics.extrapolation import UsedBefore, extrapolate, sum_of_known
from evaluation.runner.results import Results
from evaluation.runner.run import PlannedRun

SEATS = {"agent": "agent", "checklist_strict": "judge", "checklist_compat": "judge"}
"""By purpose of a call; all others are the user's."""


@dataclass(frozen=True)
class Estimate:
    sessions: int
    known: int = 0
    """Tasks of which the earlier results have sessions that are over."""
    tasks: int = 0
    calls: int = 0
    tokens: int = 0
    cost: Decimal | None = None
    """In US dollars at the prices given; None: a price is not known."""

    @property
    def sentence(self) -> str:
        if not self.known:
            return "What it costs is not known: give earlier results of these tasks with --like."
        cost = "cost unknown: say prices with --price" if self.cost is None else f"${self.cost:.2f}"
        of = "" if self.known == self.tasks else f" (from {self.known} of {self.tasks} tasks)"
        return f"About {self.calls:,} calls, {self.tokens:,} tokens, {cost}{of}."

    @property
    def document(self) -> dict[str, Any]:
        return {**vars(self), "cost": None if self.cost is None else str(self.cost)}


def estimate(planned: PlannedRun, like: Results | None) -> Estimate:
    """A task of which nothing is known is taken for the mean of the others."""
    wanted = Counter((session.persona, session.task) for session in planned.sessions)
    used: dict[tuple[str, str], UsedBefore] = {}
    for session in like.sessions if like else ():
        key = (session.planned.persona, session.planned.task)
        if session.state in ("finished", "failed") and key in wanted:
            before = used.setdefault(key, UsedBefore(0))
            before.sessions += 1
            for call in session.calls:
                if call.answered:
                    before.add(SEATS.get(call.purpose, "user_model"), 1, call.tokens)
    if not used:
        return Estimate(wanted.total(), tasks=len(wanted))
    calls, tokens = extrapolate(wanted, used)
    cost = sum_of_known(_prices(planned, seat).of(own) for seat, own in tokens.items())
    return Estimate(wanted.total(), len(used), len(wanted), calls, sum(each.total for each in tokens.values()), cost)


def _prices(planned: PlannedRun, seat: str) -> Prices:
    endpoint = planned.seats.by_role[seat]
    return Prices(Decimal(0), Decimal(0)) if endpoint.scripted else endpoint.prices
