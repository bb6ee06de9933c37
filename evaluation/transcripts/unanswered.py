"""Requests of a session that timed out or broke off: how often, and what they may have cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import OuterRef, Subquery

from evaluation.models import ModelCall, Session
from evaluation.models.pilots import Role
from evaluation.protocol.participants import Tokens
from evaluation.store.usage import PART_BY_PURPOSE
from evaluation.transcripts.waiting import WHOM

ENDINGS = ("timed_out", "broken_off")
ROLE: dict[str, Role] = {"agent": "agent", "user": "user_model", "judge": "judge"}


@dataclass(frozen=True)
class Unanswered:
    turn: int
    whom: str
    sentence: str
    attempts: int
    seconds: int
    tokens: int | None
    """Of input that may have been billed, going by the answered request before it; None: there is none."""
    cost: Decimal | None


def unanswered_calls(session: Session) -> list[Unanswered]:
    before = ModelCall.objects.filter(
        session=session, purpose=OuterRef("purpose"), answered=True, pk__lt=OuterRef("pk"), prompt_tokens__isnull=False
    )
    rows = ModelCall.objects.filter(session=session, answered=False, ending__in=ENDINGS).order_by("pk")
    found = []
    for row in rows.annotate(asked=Subquery(before.order_by("-pk").values("prompt_tokens")[:1])).defer("content"):
        part = PART_BY_PURPOSE[row.purpose]
        tokens = None if row.asked is None else row.asked * row.attempts
        cost = None if tokens is None else session.pilot.endpoint(ROLE[part]).cost_of(Tokens(tokens, 0))
        whom = WHOM[part]
        found.append(Unanswered(row.turn, whom, row.error, row.attempts, row.milliseconds // 1000, tokens, cost))
    return found
