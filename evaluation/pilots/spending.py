"""What a session's model calls use, stored with each call, so that pages, budgets and cancelling see it at once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from evaluation.leases.held import HeldLease
from evaluation.models import Session
from evaluation.models import counted_calls as stored
from evaluation.models.connections import give_back_connection
from evaluation.pilots.budgets import SharedSpending, Spent
from evaluation.pilots.usage import PART_BY_PURPOSE

shared_spending = SharedSpending()


class SessionSpending:
    """For the holder of the session's lease."""

    def __init__(self, session: Session) -> None:
        self._pilot = session.run.pilot
        self._lease = HeldLease(session)
        self._spent = _spent(session.calls, session.cost, session.tokens)

    def check(self) -> None:
        """Before a call is sent. Raises LeaseLostError and BudgetSpentError."""
        self._lease.require()
        shared_spending.check(self._pilot.pk, self._pilot.benchmark_id, self._spent)
        give_back_connection()

    def part(self, purpose: str) -> str:
        return PART_BY_PURPOSE[purpose]

    def counted(self, spent: stored.CountedUse | None, tokens: int, cost: Decimal) -> None:
        """Also of a call whose session was cancelled meanwhile: it was paid for."""
        shared_spending.add(self._pilot.pk, Spent(tokens, 1, cost))
        self._lease.seen(spent.claimed_by if spent else "")
        if spent:
            self._spent = _spent(spent.calls, spent.cost, spent.tokens)
        give_back_connection()  # tools may take long


def _spent(calls: int, cost: Decimal, tokens: Mapping[str, int]) -> Spent:
    return Spent(sum(tokens.get(part, 0) for part in ("agent", "user", "judge")), calls, cost)
