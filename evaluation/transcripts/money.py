"""What each turn of a session cost."""

from __future__ import annotations

from django.db.models import Q

from evaluation.models import Session
from evaluation.store.usage import OF_USE, Use, use_of


def costs_by_turn(session: Session) -> dict[int, Use]:
    """As the session ran: agent, user and judge, without what judging it again took. What the agent did after the
    last turn stands under the next number."""
    sent = session.model_calls.filter(Q(judging=None) | Q(judging__round__number=1), attempts__gt=0)
    return {row["turn"]: use_of(row) for row in sent.order_by().values("turn").annotate(**OF_USE)}
