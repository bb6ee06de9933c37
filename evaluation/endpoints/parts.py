"""Which models can play which part, and which plays it unless a person says otherwise."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q, QuerySet

from evaluation.endpoints.services import PAPER_SEAT
from evaluation.models import ModelEndpoint
from studio.models import Benchmark

SCRIPTED_PARTS = {"user_model": "scripted-user", "judge": "scripted-judge", "assistant": "scripted-helper"}
"""The scripted model that plays each part; the others are agents."""


def endpoints_for(part: str, benchmark: Benchmark) -> QuerySet[ModelEndpoint]:
    """Real models can play any part; a scripted one only its own."""
    others = Q()
    for model in SCRIPTED_PARTS.values():
        others |= Q(model__startswith=model)
    own = SCRIPTED_PARTS.get(part)
    plays = ~others if own is None else Q(model__startswith=own)
    return ModelEndpoint.objects.usable_in(benchmark).filter(plays | Q(scripted=False))


def default_endpoint(part: str, benchmark: Benchmark, agent: ModelEndpoint | None = None) -> ModelEndpoint | None:
    """The configured model for a part. Without one, beside a real agent the paper's user and judge if they are
    connected, or the agent's own model; else a scripted model, which is free."""
    rows = endpoints_for(part, benchmark)
    configured = {"user_model": settings.DEFAULT_USER_MODEL, "judge": settings.DEFAULT_JUDGE}.get(part)
    if configured and (row := rows.filter(name=configured).first()):
        return row
    if part != "agent" and agent is not None and not agent.scripted:
        return rows.filter(model=PAPER_SEAT["model"], effort=PAPER_SEAT["effort"]).first() or agent
    scripted = {"agent": "scripted-helpful", "user_model": "scripted-user", "judge": "scripted-judge"}[part]
    return rows.filter(name=scripted).first() or rows.first()
