"""Audits by models: any endpoint answers what people are asked in an audit, as often as wanted. Single decisions it is
asked with the prompts that the audited judge was asked with; what people answer in truth, with the record they read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from pydantic import Field

from annotations.models import AuditCampaign, Packet
from annotations.sources import SESSION, VERDICT, audit_name
from evaluation.audits.campaigns import audited_round, source_of
from evaluation.endpoints.connection import find_model
from evaluation.grading.questions import PLANTED_FROM, AskedQuestion
from evaluation.judging.judgings import scoring_choice
from evaluation.metrics.extrapolation import sum_of_known
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

INTENT_KINDS = (Verdict.Kind.SATISFACTION, Verdict.Kind.FOLLOW_UP)
"""Questions that the status of an intent is told from."""


@dataclass(frozen=True)
class ModelAuditPlan:
    campaign: AuditCampaign
    packets: int
    """That the model judges."""
    plans: tuple[RejudgingPlan, ...]
    """One for each pilot, and one for what is asked in truth."""

    @property
    def calls(self) -> int:
        return sum(plan.estimate.calls for plan in self.plans)

    @property
    def tokens(self) -> int:
        return sum(plan.estimate.tokens for plan in self.plans)

    @property
    def cost(self) -> Decimal | None:
        """In US dollars; None: not known."""
        costs = (plan.estimate.cost for plan in self.plans)
        return sum_of_known(None if cost is None else Decimal(cost) for cost in costs)

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
    asked = {} if whole else _drawn_decisions(campaign)
    in_truth = _session_questions(campaign) if whole else _drawn_decisions(campaign, in_truth=True)
    by_pilot: dict[Pilot, set[int]] = defaultdict(set)
    wanted = {session for session, _ in (*asked, *in_truth)}
    for session in Session.objects.filter(pk__in=wanted).prefetch_related("run__pilot").order_by("pk"):
        by_pilot[session.pilot].add(session.pk)
    if not by_pilot:
        raise OptionsError("", f"None of the {campaign.packets_word} of this audit are there any more.")
    plans = []
    for pilot, keys in by_pilot.items():
        judging = RejudgingOptions(judge=options.model, samples=options.samples, sessions=sorted(keys))
        is_audited = source_of(pilot) in campaign.rounds  # if not, gold items alone come from it
        judged = audited_round(campaign, pilot) if is_audited else scoring_choice(pilot).round
        audit = Audited(audit_name(campaign), judged)
        for questions, truth in ((asked, False), (in_truth, True)):
            if own := {place: rows for place, rows in questions.items() if place[0] in keys}:
                plans.append(plan_rejudging(pilot, judging, replace(audit, asked=own, in_truth=truth)))
    packets = {(row.packet, row.in_truth) for rows in (*asked.values(), *in_truth.values()) for row in rows}
    return ModelAuditPlan(campaign, len(packets), tuple(plans))


def start_model_audit(plan: ModelAuditPlan, *, by: User | None) -> list[JudgingRound]:
    return [start_rejudging(each, by=by) for each in plan.plans]


def _session_questions(campaign: AuditCampaign) -> Asked:
    """All that people are asked of sessions. What a gold item was drawn from can be a session of another pilot."""
    packets: dict[int, list[Packet]] = defaultdict(list)
    for packet in campaign.packets.filter(kind="session"):
        source = packet.origin or packet.source
        if source.startswith(SESSION):
            packets[int(source.removeprefix(SESSION))].append(packet)
    asked: dict[tuple[int, str], list[AskedQuestion]] = defaultdict(list)
    for pk, turns in Session.objects.filter(pk__in=packets, turn_count__gt=0).values_list("pk", "turn_count"):
        for packet in packets[pk]:
            for question in packet.content["questions"]:
                status = question["kind"] == "status"
                for kind in INTENT_KINDS if status else (Verdict.Kind.CHECKLIST,):
                    scoring = "" if status else str(ScoringMode.STRICT)
                    asked[pk, scoring].append(_of_session(packet, question, kind, turns))
    return asked


def _of_session(packet: Packet, question: Mapping[str, str], kind: str, turn: int) -> AskedQuestion:
    index = int(question["key"].rpartition("-")[2])
    planted = question["key"] in packet.known and not packet.control
    return AskedQuestion(
        packet=packet.source,
        kind=kind,
        turn=turn,
        index=PLANTED_FROM + index if planted else index,
        text=question["subject"],
        in_truth=True,
        key=question["key"],
    )


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
