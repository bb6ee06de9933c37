"""What a run will probably use, from earlier results of the same tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.llm import Prices
from evaluation.protocol.participants import Tokens
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
    used: dict[tuple[str, str], list[dict[str, Tokens]]] = defaultdict(list)
    calls: dict[tuple[str, str], list[int]] = defaultdict(list)
    for session in like.sessions if like else ():
        key = (session.planned.persona, session.planned.task)
        if session.state in ("finished", "failed") and key in wanted:
            answered = [call for call in session.calls if call.answered]
            by_seat: dict[str, Tokens] = defaultdict(Tokens)
            for call in answered:
                by_seat[SEATS.get(call.purpose, "user_model")] += call.tokens
            used[key].append(by_seat)
            calls[key].append(len(answered))
    if not used:
        return Estimate(wanted.total(), tasks=len(wanted))
    share = Decimal(wanted.total()) / sum(wanted[key] for key in used)
    total: dict[str, Tokens] = defaultdict(Tokens)
    number = Decimal(0)
    for key, sessions in used.items():
        times = wanted[key] * share / len(sessions)
        number += times * sum(calls[key])
        for by_seat in sessions:
            for seat, tokens in by_seat.items():
                total[seat] += _times(tokens, times)
    costs = [_prices(planned, seat).of(tokens) for seat, tokens in total.items()]
    known_costs = [cost for cost in costs if cost is not None]
    return Estimate(
        wanted.total(),
        len(used),
        len(wanted),
        round(number),
        sum(tokens.total for tokens in total.values()),
        sum(known_costs, start=Decimal(0)) if len(known_costs) == len(costs) else None,
    )


def _prices(planned: PlannedRun, seat: str) -> Prices:
    endpoint = planned.seats.by_role[seat]
    return Prices(Decimal(0), Decimal(0)) if endpoint.scripted else endpoint.prices


def _times(tokens: Tokens, by: Decimal) -> Tokens:
    return Tokens(round((tokens.prompt or 0) * by), round((tokens.completion or 0) * by))
