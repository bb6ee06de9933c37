"""What a session's model calls use, stored with each call, so that pages, budgets and cancelling see it at once."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evaluation.leases.connections import give_back_connection
from evaluation.leases.sessions import LeaseLostError
from evaluation.models import Session
from evaluation.models.inserts import Statement
from evaluation.pilots.budgets import SharedSpending, Spent
from evaluation.pilots.usage import PART_BY_PURPOSE
from studio.models.statements import binding_cursor

TRUST_SECONDS = 0.05
"""A lease that held this short a time ago is not asked for again."""

shared_spending = SharedSpending()

_HELD = "select 1 from evaluation_session where id = %s and claimed_by = %s and state = 'running'"
_SPEND = """
update evaluation_session
set calls = calls + 1,
    cost = cost + %s,
    tokens = tokens || jsonb_build_object(%s::text, coalesce((tokens ->> %s::text)::bigint, 0) + %s)
where id = %s
"""
_ONCE = "and exists (select from new) "
_RETURNING = "returning claimed_by, calls, cost, tokens"


class SessionSpending:
    """For the holder of the session's lease."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pilot = session.run.pilot
        self._spent = _spent(session.calls, session.cost, session.tokens)
        self._held_at = 0.0

    def check(self) -> None:
        """Before a call is sent. Raises LeaseLostError: a paused or cancelled session pays for nothing more; and
        BudgetSpentError.
        """
        if time.monotonic() - self._held_at >= TRUST_SECONDS:
            with binding_cursor() as cursor:
                cursor.execute(_HELD, [self._session.pk, self._session.claimed_by])
                if not cursor.fetchone():
                    raise LeaseLostError
            self._held_at = time.monotonic()
        shared_spending.check(self._pilot.pk, self._pilot.benchmark_id, self._spent)
        give_back_connection()

    def statement(self, purpose: str, tokens: int, cost: Decimal, *, again: bool) -> Statement:
        """Counts an answered call, even one whose session was cancelled meanwhile: it was paid for."""
        part = PART_BY_PURPOSE[purpose]
        return _SPEND + (_ONCE if again else "") + _RETURNING, [cost, part, part, tokens, self._session.pk]

    def counted(self, row: tuple[Any, ...] | None, tokens: int, cost: Decimal) -> None:
        shared_spending.add(self._pilot.pk, Spent(tokens, 1, cost))
        self._held_at = 0.0
        if row:
            token, calls, paid, parts = row
            self._spent = _spent(calls, paid, json.loads(parts) if isinstance(parts, str) else parts)
            self._held_at = time.monotonic() if token == self._session.claimed_by else 0.0
        give_back_connection()  # tools may take long


def _spent(calls: int, cost: Decimal, tokens: Mapping[str, int]) -> Spent:
    return Spent(sum(tokens.get(part, 0) for part in ("agent", "user", "judge")), calls, cost)
