"""What each turn of a session cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from evaluation.models import Session


@dataclass(frozen=True)
class TurnCost:
    """``calls`` that were sent, with what their endpoints counted."""

    calls: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    """Calls whose cost is not known."""


NOTHING = TurnCost()


def costs_by_turn(session: Session) -> dict[int, TurnCost]:
    """As the session ran: agent, user and judge, without what judging it again took. What the agent did after the
    last turn stands under the next number."""
    rows = session.model_calls.filter(Q(judging=None) | Q(judging__round__number=1), attempts__gt=0)
    used = Coalesce(Sum("prompt_tokens"), 0) + Coalesce(Sum("completion_tokens"), 0)
    sums = (
        rows.order_by()
        .values_list("turn")
        .annotate(
            calls=Count("pk"),
            used=used,
            paid=Coalesce(Sum("cost"), Decimal(0)),
            unpriced=Count("pk", filter=Q(cost=None)),
        )
    )
    return {turn: TurnCost(*figures) for turn, *figures in sums}
