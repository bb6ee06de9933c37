"""Tokens and cost of a session's model calls as it ran, without what judging it again took."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Q, Sum

from evaluation.models import ModelCall, Session, Verdict
from evaluation.protocol.scoring import ScoringMode

PART_BY_PURPOSE = {
    "agent": "agent",
    "satisfaction": "user",
    "follow_up": "user",
    "voice": "user",
    "checklist_strict": "judge",
    "checklist_compat": "judge",
}


@dataclass(frozen=True)
class SessionUsage:
    tokens: dict[str, int]
    """By part: ``agent``, ``user`` and ``judge`` are what was paid; ``judge_compat`` and ``judge_strict`` are what each
    scoring mode relies on. A call that both modes share is paid once."""
    cost: Decimal


def usage_of(session: Session) -> SessionUsage:
    tokens = dict.fromkeys(("agent", "user", "judge", "judge_compat", "judge_strict"), 0)
    cost = Decimal(0)
    used = Sum(F("prompt_tokens") + F("completion_tokens"))
    own = Q(judging=None) | Q(judging__round__number=1)
    rows = session.model_calls.filter(own).order_by().values("purpose").annotate(used=used, paid=Sum("cost"))
    for row in rows:
        tokens[PART_BY_PURPOSE[row["purpose"]]] += row["used"]
        cost += row["paid"]
    for mode in ScoringMode:
        verdicts = Verdict.objects.filter(
            judging__session=session, judging__round__number=1, judging__scoring=mode, model_call__isnull=False
        )
        calls = ModelCall.objects.filter(pk__in=verdicts.values("model_call"))
        tokens[f"judge_{mode}"] = calls.aggregate(used=used)["used"] or 0
    return SessionUsage(tokens, cost)
