"""What a session's model calls use, stored with each call, so that pages, budgets and cancelling see it at once."""

from __future__ import annotations

import time
from decimal import Decimal

from django.db.models import F

from evaluation.engine.budgets import Spent
from evaluation.models import Session
from evaluation.models.calls import AfterCall
from evaluation.models.connections import give_back_connection
from evaluation.models.leased import LeaseLostError
from evaluation.models.sessions import ALL_TOKENS
from evaluation.pilots.budgets import FRESH_SECONDS, SharedSpending, owner_of, reserve

shared_spending = SharedSpending()
ASK_AGAIN = 0.5
"""Seconds until a call that waits for others looks again."""


class SessionSpending:
    """For the holder of the session's lease."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._owner = owner_of(session)
        tokens, cost = ALL_TOKENS + F("assumed_tokens"), F("cost") + F("assumed_cost")
        self._row = Session.objects.filter(pk=session.pk).values_list("claimed_by", "state", tokens, "calls", cost)
        self._told: tuple[AfterCall, float] | None = None
        """By the statement that stored the last call, and when. One check goes by it, if made at once."""

    def check(self, worst: Decimal | None = None) -> None:
        """Before a call is sent. Where dollars are limited, what it costs at most is kept free until it is stored; it
        waits while calls under way may use that up. Raises LeaseLostError and BudgetSpentError."""
        if self._check() and worst is not None:
            while not reserve(self._session, worst):
                give_back_connection()
                time.sleep(ASK_AGAIN)
                self._check()

    def _check(self) -> bool:
        """Whether a budget limits dollars."""
        told, self._told = self._told, None
        is_fresh = told is not None and time.monotonic() - told[1] < FRESH_SECONDS
        now = told[0] if told and is_fresh else next((AfterCall(*row) for row in self._row.all()), None)
        if now is None or (now.claimed_by, now.state) != (self._session.claimed_by, Session.LEASED):
            raise LeaseLostError
        spent = Spent(now.tokens, now.calls, now.cost)
        return self._owner is not None and shared_spending.check(self._owner, spent)

    def counted(self, tokens: int, cost: Decimal, session: AfterCall) -> None:
        """Also of a call whose session was cancelled meanwhile: it was paid for."""
        self._told = session, time.monotonic()
        if self._owner is not None:
            shared_spending.add(self._owner, Spent(tokens, 1, cost))
