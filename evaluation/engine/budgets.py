"""Budgets in tokens, model calls and US dollars: what may be used, and whether it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from studio.domain.options import OptionsError

KINDS = ("tokens", "calls", "cost")
NAMES = {"tokens": "tokens", "calls": "model calls"}
SCOPES = ("session", "pilot")
"""Of the budgets that a pilot holds."""
MAX_BUDGET = 10**15 - 1
Limits = Mapping[str, float]


class BudgetSpentError(Exception):
    """``scope``, a session, a pilot, a benchmark or a validation, may send nothing more."""

    def __init__(self, scope: str, message: str) -> None:
        super().__init__(message)
        self.scope = scope


@dataclass(frozen=True)
class Spent:
    tokens: int = 0
    calls: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.calls + other.calls, self.cost + other.cost)


def validate_limits(given: Limits) -> dict[str, float]:
    """Without those that are 0. Raises OptionsError."""
    for name, value in given.items():
        if name not in KINDS:
            raise OptionsError("budgets", f"There is no budget of “{name}”; there are {', '.join(KINDS)}.")
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not 0 <= value <= MAX_BUDGET:
            raise OptionsError("budgets", f"The budget of {name} is not a number from 0 up.")
    return {name: float(value) if name == "cost" else int(value) for name, value in given.items() if value}


def validate_budgets(given: Mapping[str, Limits]) -> dict[str, dict[str, float]]:
    """By scope. Raises OptionsError."""
    for scope in given:
        if scope not in SCOPES:
            raise OptionsError("budgets", f"There is no budget of a “{scope}”; there are {' and '.join(SCOPES)}.")
    return {scope: limits for scope, raw in given.items() if (limits := validate_limits(raw))}


def check_limits(scope: str, limits: Limits, spent: Spent) -> None:
    """Raises BudgetSpentError."""
    for kind in KINDS:
        limit = limits.get(kind) or 0
        if limit and float(getattr(spent, kind)) >= limit:
            amount = _dollars(limit) if kind == "cost" else f"{int(limit):,} {NAMES[kind]}"
            raise BudgetSpentError(scope, f"The {scope}’s budget of {amount} is spent. Raise it to go on.")


def fits(scope: str, limit: Decimal, spent: Decimal, reserved: Decimal, worst: Decimal) -> bool:
    """Whether what a call costs at most can be kept free; False while other calls under way, for which ``reserved`` is,
    may use that up. Raises BudgetSpentError if it may cost more than is left; of a benchmark's budget for its pilot
    alone, since the calls of others may cost less."""
    if spent + worst > limit:
        left = _dollars(float(max(limit - spent, Decimal(0))))
        raise BudgetSpentError(
            "pilot" if scope == "benchmark" else scope,
            f"What is left of the {scope}’s budget of {_dollars(float(limit))}, {left}, does not cover the next call, "
            f"which may cost {_dollars(float(worst))}. Raise it to go on.",
        )
    return spent + reserved + worst <= limit


@dataclass
class Purse:
    """What sessions that are played side by side may still use, of their own and together."""

    limits: Mapping[str, Limits]
    """Of a ``session``, and of the whole run (``pilot``)."""
    used: Spent = field(default_factory=Spent)
    tell: Callable[[Spent], None] = lambda call: None
    """What a call has used, from many threads."""
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _reserved: dict[object, Decimal] = field(default_factory=dict)
    """By the holders of calls under way."""

    def check(self, holder: object, session: Spent, worst: Decimal | None = None) -> None:
        """Before a model is asked. ``session``: what this one has used; ``worst``: what the call costs at most, which
        is kept free for its ``holder`` until it is spent. Waits while calls under way may use up what is left. Raises
        BudgetSpentError."""
        with self._changed:
            while not self._has_room(holder, session, worst):
                self._changed.wait()
            if worst is not None:  # else the same call is sent again
                self._reserved[holder] = worst

    def _has_room(self, holder: object, session: Spent, worst: Decimal | None) -> bool:
        """Raises BudgetSpentError."""
        own, shared = self.limits.get("session", {}), self.limits.get("pilot", {})
        check_limits("session", own, session)
        check_limits("run", shared, self.used)
        if worst is None:
            return True
        others = sum((kept for each, kept in self._reserved.items() if each is not holder), Decimal(0))
        rooms = (("session", own, session, Decimal(0)), ("run", shared, self.used, others))
        return all(
            fits(scope, Decimal(str(limits["cost"])), used.cost, kept, worst)
            for scope, limits, used, kept in rooms
            if limits.get("cost")
        )

    def spend(self, holder: object, call: Spent) -> None:
        with self._changed:
            self.used += call
            self.leave(holder)
        self.tell(call)

    def leave(self, holder: object) -> None:
        """Nothing is kept free any more."""
        with self._changed:
            self._reserved.pop(holder, None)
            self._changed.notify_all()


def _dollars(amount: float) -> str:
    return "$" + f"{amount:.6f}".rstrip("0").rstrip(".")
