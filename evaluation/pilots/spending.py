"""What a session's model calls use, stored with each call, so that pages, budgets and cancelling see it at once."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import F

from evaluation.models import Session
from evaluation.models.connections import give_back_connection
from evaluation.models.leased import LeaseLostError
from evaluation.models.sessions import ALL_TOKENS
from evaluation.pilots.budgets import SharedSpending, Spent
from evaluation.store.usage import PART_BY_PURPOSE

shared_spending = SharedSpending()


class SessionSpending:
    """For the holder of the session's lease."""

    def __init__(self, session: Session) -> None:
        self._pilot = session.run.pilot
        tokens, cost = ALL_TOKENS + F("assumed_tokens"), F("cost") + F("assumed_cost")
        self._row = session.held().values_list(tokens, "calls", cost)

    def check(self) -> None:
        """Before a call is sent. Raises LeaseLostError and BudgetSpentError."""
        row = next(iter(self._row.all()), None)  # made once: it is asked before every call
        if row is None:
            raise LeaseLostError
        shared_spending.check(self._pilot.pk, self._pilot.benchmark_id, Spent(*row))
        give_back_connection()

    def part(self, purpose: str) -> str:
        return PART_BY_PURPOSE[purpose]

    def counted(self, tokens: int, cost: Decimal) -> None:
        """Also of a call whose session was cancelled meanwhile: it was paid for."""
        shared_spending.add(self._pilot.pk, Spent(tokens, 1, cost))
        give_back_connection()  # tools may take long
