"""Audits by models: any endpoint judges the sessions of an audit again, as often as wanted, with the prompts that the
audited judge was asked with. Of an audit of single decisions it is asked these alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotations.models import AuditCampaign, Packet
from annotations.sources import PILOT, VERDICT, audit_name, session_keys
from evaluation.grading.judgings import scoring_choice
from evaluation.grading.questions import AskedQuestion
from evaluation.models import JudgingRound, ModelEndpoint, Pilot, Session, Verdict
from evaluation.pilots.frozen import task_of
from evaluation.pilots.rejudging import Asked, RejudgingError, RejudgingPlan, plan_rejudging, start_rejudging
from studio.models import User

PLANTED_FROM = 20_000
"""Planted questions are decided with indexes above this, which no item of a task has."""


@dataclass(frozen=True)
class ModelAuditPlan:
    campaign: AuditCampaign
    packets: int
    """That the model judges."""
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
        return {
            "packets": self.packets,
            "sessions": self.sessions,
            "calls": self.calls,
            "tokens": self.tokens,
            "cost": str(self.cost),
        }


def plan_model_audit(campaign: AuditCampaign, model: ModelEndpoint, samples: int = 1) -> ModelAuditPlan:
    """Raises RejudgingError."""
    whole = campaign.unit == AuditCampaign.Unit.SESSION
    asked = {} if whole else _drawn_decisions(campaign)
    wanted = set(session_keys(campaign)) if whole else {session for session, _ in asked}
    sessions: dict[Pilot, set[int]] = defaultdict(set)
    for session in Session.objects.filter(pk__in=wanted).select_related("run__pilot").order_by("pk"):
        sessions[session.run.pilot].add(session.pk)
    if not sessions:
        raise RejudgingError("audit", f"None of the {campaign.packets_word} of this audit are there any more.")
    return ModelAuditPlan(
        campaign,
        len(wanted) if whole else sum(map(len, asked.values())),
        tuple(
            plan_rejudging(
                pilot,
                judge=model,
                samples=samples,
                sessions=keys,
                audit=audit_name(campaign),
                like=_audited_round(campaign, pilot),
                asked={place: rows for place, rows in asked.items() if place[0] in keys},
            )
            for pilot, keys in sessions.items()
        ),
    )


def start_model_audit(plan: ModelAuditPlan, *, by: User | None) -> list[JudgingRound]:
    return [start_rejudging(each, by=by) for each in plan.plans]


def _drawn_decisions(campaign: AuditCampaign) -> Asked:
    """Control items as well: nothing tells the model which these are."""
    packets = [row for row in campaign.packets.exclude(kind="session") if _verdict_key(row)]
    verdicts = Verdict.objects.select_related("judging__session").in_bulk({_verdict_key(row) for row in packets})
    asked: dict[tuple[int, str], list[AskedQuestion]] = defaultdict(list)
    for packet in packets:
        verdict = verdicts.get(_verdict_key(packet))
        if verdict is not None and verdict.judging.session_id is not None:
            planted = packet.control == Packet.Control.PLANTED
            asked[verdict.judging.session_id, verdict.judging.scoring].append(
                AskedQuestion(
                    packet=packet.source,
                    kind=verdict.kind,
                    turn=verdict.turn,
                    index=PLANTED_FROM + packet.position if planted else verdict.index,
                    text=packet.content["subject"] if planted else _subject(verdict),
                )
            )
    return asked


def _subject(verdict: Verdict) -> str:
    session = verdict.judging.session
    assert session is not None
    return verdict.subject(task_of(session.revision_id))


def _verdict_key(packet: Packet) -> int:
    """0: its record is of no decision."""
    source = packet.origin or packet.source
    return int(source.removeprefix(VERDICT)) if source.startswith(VERDICT) else 0


def _audited_round(campaign: AuditCampaign, pilot: Pilot) -> JudgingRound:
    number = campaign.rounds.get(f"{PILOT}{pilot.pk}")
    return pilot.rounds.filter(number=number).first() or scoring_choice(pilot).round
