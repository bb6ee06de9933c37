"""Which model a running session waits for and how long, and requests that timed out or broke off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Max, OuterRef, Subquery
from django.utils import timezone

from evaluation.models import ModelCall, Session
from evaluation.models.calls import PART_BY_PURPOSE
from evaluation.models.pilots import Role
from evaluation.protocol.participants import Tokens

WHOM = {"agent": "the agent’s model", "user": "the model that plays the user", "judge": "the judge"}
ENDINGS = ("timed_out", "broken_off")
ROLE: dict[str, Role] = {"agent": "agent", "user": "user_model", "judge": "judge"}


@dataclass(frozen=True)
class Waiting:
    whom: str
    seconds: int


def with_waiting(rows: Iterable[Any]) -> list[Any]:
    """Sessions, each that waits with its ``waiting``. One query more if any runs."""
    sessions = list(rows)
    running = [row.pk for row in sessions if row.state == Session.State.RUNNING and row.asking_since]
    last: dict[int, Any] = {}
    if running:
        calls = ModelCall.objects.filter(session__in=running).order_by().values_list("session")
        last = dict(calls.annotate(last=Max("created_at")))
    now = timezone.now()
    for row in sessions:
        if row.pk in running:
            since = max(row.asking_since, last.get(row.pk, row.asking_since))
            row.waiting = Waiting(WHOM[row.asking], max(0, int((now - since).total_seconds())))
    return sessions


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
