"""Audits by models: any endpoint judges the sessions of an audit again, as often as wanted, with the prompts that the
scoring judge was asked with."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotations.models import AuditCampaign
from annotations.sources import audit_name, session_keys
from evaluation.models import JudgingRound, ModelEndpoint, Pilot, Session
from evaluation.pilots.rejudging import RejudgingError, RejudgingPlan, plan_rejudging, start_rejudging
from studio.models import User


@dataclass(frozen=True)
class ModelAuditPlan:
    plans: tuple[RejudgingPlan, ...]
    """One for each pilot of the audit."""

    @property
    def calls(self) -> int:
        return sum(plan.estimate.calls for plan in self.plans)

    @property
    def tokens(self) -> int:
        return sum(plan.estimate.tokens for plan in self.plans)

    @property
    def cost(self) -> Decimal:
        """In US dollars."""
        return sum((Decimal(plan.estimate.cost) for plan in self.plans), Decimal(0))

    @property
    def sessions(self) -> int:
        return sum(len(plan.sessions) for plan in self.plans)

    def as_json(self) -> dict[str, Any]:
        return {"sessions": self.sessions, "calls": self.calls, "tokens": self.tokens, "cost": str(self.cost)}


def plan_model_audit(campaign: AuditCampaign, model: ModelEndpoint, samples: int = 1) -> ModelAuditPlan:
    """Raises RejudgingError."""
    sessions: dict[Pilot, list[int]] = defaultdict(list)
    for session in Session.objects.filter(pk__in=session_keys(campaign)).select_related("run__pilot").order_by("pk"):
        sessions[session.run.pilot].append(session.pk)
    if not sessions:
        raise RejudgingError("audit", "Models audit whole sessions. Open an audit of sessions for it.")
    return ModelAuditPlan(
        tuple(
            plan_rejudging(pilot, judge=model, samples=samples, sessions=keys, audit=audit_name(campaign))
            for pilot, keys in sessions.items()
        )
    )


def start_model_audit(plan: ModelAuditPlan, *, by: User | None) -> list[JudgingRound]:
    return [start_rejudging(each, by=by) for each in plan.plans]
