"""Tokens of a session's model calls, by who uses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from evaluation.models import ModelCall, Session, Verdict
from evaluation.models.calls import COUNTED, PART_BY_PURPOSE
from evaluation.models.sessions import PARTS
from evaluation.protocol.participants import UNTOLD, Tokens
from evaluation.protocol.scoring import ScoringMode


def tokens_by_mode(session: Session) -> dict[str, int]:
    """What each scoring mode relies on, by column of the session: a call that both share is paid once."""
    judged = Verdict.objects.filter(judging__session=session, judging__round__number=1, model_call__isnull=False)
    used = Coalesce("model_call__prompt_tokens", 0) + Coalesce("model_call__completion_tokens", 0)
    calls = judged.order_by().values_list("judging__scoring", "model_call", used).distinct()
    tokens = Counter[str]()
    for scoring, _, number in calls:
        tokens[scoring] += number
    return {f"{mode}_tokens": tokens[mode] for mode in ScoringMode}


@dataclass(frozen=True)
class Use:
    """What calls used, as their services told it."""

    calls: int = 0
    tokens: Tokens = UNTOLD
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    """Calls whose cost is not known."""

    def __add__(self, other: Use) -> Use:
        return Use(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )


OF_USE = {
    "calls": Count("pk"),
    "paid": Sum("cost"),
    "unpriced": Count("pk", filter=Q(cost=None)),
    "untold": Count("pk", filter=Q(prompt_tokens=None) | Q(completion_tokens=None)),
    **{f"sum_{name}": Sum(name) for name in COUNTED},
}
"""Annotations from which ``use_of`` reads."""


def use_of(row: Mapping[str, Any]) -> Use:
    prompt, completion, cached, written, reasoning = (row[f"sum_{name}"] for name in COUNTED)
    tokens = Tokens(prompt, completion, cached, written, reasoning, row["untold"])
    return Use(row["calls"], tokens, row["paid"] or Decimal(0), row["unpriced"])


def as_ran(calls: QuerySet[ModelCall]) -> QuerySet[ModelCall]:
    """Answered calls of sessions as they ran, without what judging them again took."""
    return calls.filter(Q(judging=None) | Q(judging__round__number=1), answered=True, session__isnull=False).order_by()


def use_by_part(calls: QuerySet[ModelCall]) -> dict[str, Use]:
    """By agent, user and judge."""
    used = dict.fromkeys(PARTS, Use())
    for row in calls.values("purpose").annotate(**OF_USE):
        used[PART_BY_PURPOSE[row["purpose"]]] += use_of(row)
    return used
