"""What sessions will probably use, from earlier ones of the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from evaluation.protocol.participants import UNTOLD, Tokens

K = TypeVar("K", bound=Hashable)


@dataclass
class UsedBefore:
    """By the earlier sessions of a task."""

    sessions: int
    calls: int = 0
    tokens: dict[str, Tokens] = field(default_factory=dict)
    """By seat."""

    def add(self, seat: str, calls: int, tokens: Tokens) -> None:
        self.calls += calls
        self.tokens[seat] = self.tokens.get(seat, UNTOLD) + tokens


def extrapolate(wanted: Counter[K], used: Mapping[K, UsedBefore]) -> tuple[int, dict[str, Tokens]]:
    """Calls, and tokens by seat, of as many sessions of each task. One of which nothing is known is taken for the mean
    of the others; of one at least something must be."""
    each = Decimal(wanted.total()) / sum(wanted[key] for key in used)
    calls, tokens = Decimal(0), dict[str, Tokens]()
    for key, before in used.items():
        times = wanted[key] * each / before.sessions
        calls += before.calls * times
        for seat, own in before.tokens.items():
            tokens[seat] = tokens.get(seat, UNTOLD) + own.times(times)
    return round(calls), tokens


def sum_of_known(costs: Iterable[Decimal | None]) -> Decimal | None:
    """None if one of them is not known."""
    costs = list(costs)
    return None if None in costs else sum((cost for cost in costs if cost is not None), start=Decimal(0))
