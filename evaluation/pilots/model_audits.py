"""Audits by models: any endpoint judges the sessions of an audit again, as often as wanted, with the prompts that the
audited judge was asked with. Of an audit of single decisions it is asked these alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from pydantic import Field

from annotations.models import AuditCampaign, Packet
from annotations.sources import SESSION, VERDICT, audit_name
from evaluation.audits.campaigns import audited_round
from evaluation.endpoints.connection import find_model
from evaluation.grading.questions import PLANTED_FROM, AskedQuestion
from evaluation.judging.judgings import scoring_choice
from evaluation.models import JudgingRound, Pilot, Session, Verdict
from evaluation.pilots.rejudging import (
    MAX_SAMPLES,
    Asked,
    Audited,
    RejudgingOptions,
    RejudgingPlan,
    plan_rejudging,
    start_rejudging,
)
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.frozen import task_of
from studio.domain.options import Options, OptionsError
from studio.models import User


@dataclass(frozen=True)
class ModelAuditPlan:
    campaign: AuditCampaign
    packets: int
    """That the model judges."""
    plans: tuple[RejudgingPlan, ...]
    """One for each pilot, another for what is planted in its sessions, and one for what is asked again in truth."""

    @property
    def calls(self) -> int:
        return sum(plan.estimate.calls for plan in self.plans)

    @property
    def tokens(self) -> int:
        return sum(plan.estimate.tokens for plan in self.plans)

    @property
    def cost(self) -> Decimal | None:
        """In US dollars; None: not known."""
        costs = [Decimal(plan.estimate.cost) for plan in self.plans if plan.estimate.cost is not None]
        return sum(costs, Decimal(0)) if len(costs) == len(self.plans) else None

    @property
    def sessions(self) -> int:
        return len({session for plan in self.plans for session in plan.sessions})

    def as_json(self) -> dict[str, Any]:
        return {
            "packets": self.packets,
            "sessions": self.sessions,
            "calls": self.calls,
            "tokens": self.tokens,
            "cost": None if self.cost is None else str(self.cost),
        }


class ModelAuditOptions(Options):
    model: str
    """Also the model that scored: it is asked anew, and you see how far it agrees with itself."""
    samples: int = Field(default=1, ge=1, le=MAX_SAMPLES, title="Times each question is asked")
    """The majority counts."""


def plan_model_audit(campaign: AuditCampaign, options: ModelAuditOptions) -> ModelAuditPlan:
    """Control items are asked as well, and nothing tells the model which these are. Raises OptionsError."""
    find_model(campaign.benchmark, options.model, "model")
    whole = campaign.unit == AuditCampaign.Unit.SESSION
    sessions = _audited_sessions(campaign) if whole else {}
    asked = _planted_questions(sessions) if whole else _drawn_decisions(campaign)
    again = {} if whole else _drawn_decisions(campaign, in_truth=True)
    by_pilot: dict[Pilot, set[int]] = defaultdict(set)
    wanted = sessions.keys() | {session for session, _ in asked}
    for session in Session.objects.filter(pk__in=wanted).prefetch_related("run__pilot").order_by("pk"):
        by_pilot[session.pilot].add(session.pk)
    if not by_pilot:
        raise OptionsError("", f"None of the {campaign.packets_word} of this audit are there any more.")
    plans = []
    for pilot, keys in by_pilot.items():
        judging = RejudgingOptions(judge=options.model, samples=options.samples, sessions=sorted(keys))
        audit = Audited(audit_name(campaign), audited_round(campaign, pilot) or scoring_choice(pilot).round)
        own, second = ({place: rows for place, rows in of.items() if place[0] in keys} for of in (asked, again))
        for questions in ({}, own) if whole and own else (own,):
            plans.append(plan_rejudging(pilot, judging, replace(audit, asked=questions)))
        if second:
            plans.append(plan_rejudging(pilot, judging, replace(audit, asked=second, in_truth=True)))
    packets = sum(map(len, sessions.values() if whole else (*asked.values(), *again.values())))
    return ModelAuditPlan(campaign, packets, tuple(plans))


def start_model_audit(plan: ModelAuditPlan, *, by: User | None) -> list[JudgingRound]:
    return [start_rejudging(each, by=by) for each in plan.plans]


def _audited_sessions(campaign: AuditCampaign) -> dict[int, list[Packet]]:
    """Packets by session. What a gold item was drawn from can be a session of another pilot."""
    found: dict[int, list[Packet]] = defaultdict(list)
    for packet in campaign.packets.filter(kind="session"):
        source = packet.origin or packet.source
        if source.startswith(SESSION):
            found[int(source.removeprefix(SESSION))].append(packet)
    there = set(Session.objects.filter(pk__in=found).values_list("pk", flat=True))
    return {session: packets for session, packets in found.items() if session in there}


def _planted_questions(sessions: Mapping[int, Sequence[Packet]]) -> Asked:
    """Of the last turn, before which all is in view that people see."""
    last = dict(Session.objects.filter(pk__in=sessions, turn_count__gt=0).values_list("pk", "turn_count"))
    asked: dict[tuple[int, str], list[AskedQuestion]] = defaultdict(list)
    for session, packets in sessions.items():
        for packet in packets:
            planted = (
                [] if packet.control else [row for row in packet.content["questions"] if row["key"] in packet.known]
            )
            for question in planted if session in last else ():
                number = int(question["key"].rpartition("-")[2])
                asked[session, str(ScoringMode.STRICT)].append(
                    AskedQuestion(
                        packet=packet.source,
                        kind=Verdict.Kind.CHECKLIST,
                        turn=last[session],
                        index=PLANTED_FROM + number,
                        text=question["subject"],
                    )
                )
    return asked


def _drawn_decisions(campaign: AuditCampaign, *, in_truth: bool = False) -> Asked:
    rows = campaign.packets.filter(first__isnull=not in_truth).exclude(kind="session")
    packets = [row for row in rows if _verdict_key(row)]
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
                    in_truth=in_truth,
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
