"""Tokens and cost of a session's model calls as it ran, without what judging it again took."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, Q, QuerySet, Sum

from evaluation.models import ModelCall, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from studio.models.statements import NUMBERS, PreparedQuery

PART_BY_PURPOSE = {
    "agent": "agent",
    "satisfaction": "user",
    "follow_up": "user",
    "voice": "user",
    "checklist_strict": "judge",
    "checklist_compat": "judge",
}

_USED = Sum(F("prompt_tokens") + F("completion_tokens"))


def _calls_by_purpose(session: int) -> QuerySet[Any]:
    own = Q(judging=None) | Q(judging__round__number=1)
    calls = ModelCall.objects.filter(own, session=session).order_by()
    return calls.values("purpose").annotate(used=_USED, paid=Sum("cost")).values_list("purpose", "used", "paid")


def _calls_of_mode(session: int, mode: str) -> QuerySet[Any]:
    verdicts = Verdict.objects.filter(
        judging__session=session, judging__round__number=1, judging__scoring=mode, model_call__isnull=False
    )
    calls = ModelCall.objects.filter(pk__in=verdicts.values("model_call")).order_by()
    return calls.values("session").annotate(used=_USED).values_list("used")


_BY_PURPOSE = PreparedQuery(_calls_by_purpose)
_BY_MODE = PreparedQuery(_calls_of_mode, NUMBERS[0], "mode")


@dataclass(frozen=True)
class SessionUsage:
    tokens: dict[str, int]
    """By part: ``agent``, ``user`` and ``judge`` are what was paid; ``judge_compat`` and ``judge_strict`` are what each
    scoring mode relies on. A call that both modes share is paid once."""
    cost: Decimal


def usage_of(session: Session) -> SessionUsage:
    tokens = dict.fromkeys(("agent", "user", "judge", "judge_compat", "judge_strict"), 0)
    cost = Decimal(0)
    for purpose, used, paid in _BY_PURPOSE.rows(session.pk):
        tokens[PART_BY_PURPOSE[purpose]] += used
        cost += paid
    if tokens["judge"]:
        for mode in ScoringMode:
            tokens[f"judge_{mode}"] = sum(used for (used,) in _BY_MODE.rows(session.pk, mode))
    return SessionUsage(tokens, cost)
