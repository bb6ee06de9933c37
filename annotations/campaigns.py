"""Opening and closing audits, and what happened to one."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format

from annotations.models import Answer, AuditCampaign, Judgment, Opening, Packet, Population, Seat
from annotations.packets import PacketContent, Sealed
from annotations.seals import Openings
from studio.access import ALLOWED
from studio.domain.options import OptionsError
from studio.files.previews.markup import markdown
from studio.models import Benchmark, Event, Membership, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

MAX_INSTRUCTIONS = 20_000
"""Characters."""


@dataclass(frozen=True)
class FrozenDecision:
    """A packet to be: of one decision, or of a session with all of them."""

    source: str
    """Opaque here; unique within the campaign."""
    stratum: str
    weight: float
    content: PacketContent
    sealed: Sealed
    involved: frozenset[int] = frozenset()
    """Keys of the people who wrote, edited or approved the task."""
    cluster: str = ""
    """Names its session; empty: it stands alone."""
    control: str = ""
    """A ``Packet.Control``."""
    known: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    """As of a packet."""
    truth: bool = False
    """As of a packet."""
    second: PacketContent | None = None
    """What it may be asked again with, in truth."""
    excluded: frozenset[int] = frozenset()
    """Keys of people who never judge it, whatever the audit allows: they know the answer."""


@dataclass(frozen=True)
class PopulationRow:
    """A session that could have been drawn. Scores are of the judge, None where it has none."""

    source: str
    """As of the packet, if it was drawn."""
    agent: str
    stratum: str
    """Sessions of an agent that were drawn with equal chance."""
    proc: float | None
    comp: float | None


@dataclass(frozen=True)
class CampaignPlan:
    """An audit to be; fields that are not said here are as of the campaign."""

    benchmark: Benchmark
    decisions: Sequence[FrozenDecision]
    """In the order in which they become packets."""
    name: str
    source: str
    seed: int
    overlap: int
    scripted: bool
    rounds: Mapping[str, int] = field(default_factory=dict)
    auditors: Collection[User] = ()
    own_tasks: bool = False
    unit: str = AuditCampaign.Unit.DECISION
    population: Sequence[PopulationRow] = ()
    strata: str = AuditCampaign.Strata.PILOT
    protocol: str = ""
    second: Sequence[FrozenDecision] = ()
    """Those of the decisions that are asked again, in truth."""
    gold_sources: Collection[str] = ()
    """What gold items among them were drawn from."""
    due: dt.date | None = None
    instructions: str = ""

    @property
    def controls(self) -> dict[str, Any]:
        """As of the campaign."""
        counts = Counter(row.control or "planted" for row in self.decisions if row.known)
        if not counts:
            return {}
        return {"gold": counts["gold"], "planted": counts["planted"], "sources": sorted(self.gold_sources)}


def validate_plan(plan: CampaignPlan) -> set[int]:
    """Keys of those who will judge. Raises OptionsError."""
    if not plan.name.strip():
        raise OptionsError("name", "Enter a name for the audit.")
    if not plan.decisions:
        raise OptionsError("size", "There are no judge decisions to audit yet. Finish a pilot first.")
    if plan.due is not None and plan.due < timezone.localdate():
        raise OptionsError("due", "Choose today or a later day, or leave it blank.")
    if len(plan.instructions) > MAX_INSTRUCTIONS:
        raise OptionsError("instructions", f"Keep the instructions under {MAX_INSTRUCTIONS:,} characters.")
    people = validate_auditors(plan.benchmark, plan.overlap, plan.auditors)
    if not plan.own_tasks:
        _validate_involvement(plan.decisions, plan.overlap, people)
    return people


@transaction.atomic
def open_campaign(plan: CampaignPlan, *, by: User | None) -> AuditCampaign:
    """Freeze the decisions as packets. Raises OptionsError."""
    people = validate_plan(plan)
    benchmark, decisions = plan.benchmark, plan.decisions
    campaign = AuditCampaign.objects.create(
        benchmark=benchmark,
        name=plan.name.strip(),
        source=plan.source,
        rounds=dict(plan.rounds),
        unit=plan.unit,
        seed=plan.seed,
        overlap=plan.overlap,
        own_tasks=plan.own_tasks,
        strata=plan.strata,
        protocol=plan.protocol,
        due=plan.due,
        instructions=plan.instructions.strip(),
        controls=plan.controls,
        scripted=plan.scripted,
        asked=sorted(people),
        created_by=by,
    )
    campaign.auditors.set(plan.auditors)
    if plan.population:
        Population.objects.create(campaign=campaign, rows=[asdict(row) for row in plan.population])
    packets = Packet.objects.bulk_create(
        _packet(campaign, position, decision) for position, decision in enumerate(decisions, start=1)
    )
    by_source = {packet.source: packet for packet in packets}
    packets += Packet.objects.bulk_create(
        _packet(campaign, position, again, first=by_source[again.source])
        for position, again in enumerate(plan.second, start=len(decisions) + 1)
    )
    Answer.sealed.bulk_create(
        Answer(packet=packet, question=key, by=Answer.By.JUDGE, value=value)
        for packet, decision in zip(packets, (*decisions, *plan.second), strict=True)
        for key, value in decision.sealed.answers.items()
    )
    Seat.objects.bulk_create(
        Seat(packet=packet, number=number) for packet in packets for number in range(1, plan.overlap + 1)
    )
    number = f"{len(decisions)} {campaign.packets_word}"
    summary = f"Opened the audit “{campaign.name}” of {number}"
    record_event(campaign, "audit_opened", summary, by=by, source=plan.source, seed=plan.seed)
    due = f" by {date_format(plan.due, 'j F Y')}" if plan.due else ""
    _notify_auditors(campaign, f"opened the audit “{campaign.name}” for you: {number} to judge{due}.", by=by)
    return campaign


def record_event(campaign: AuditCampaign, verb: str, summary: str, *, by: User | None, **data: Any) -> None:
    Event.objects.create(
        benchmark_id=campaign.benchmark_id,
        actor=by,
        verb=verb,
        summary=summary,
        data={"campaign": campaign.pk, **data},
    )


def _notify_auditors(campaign: AuditCampaign, text: str, *, by: User | None) -> None:
    notify.notify(
        [user.pk for user in campaign.auditors.all()] or notify.users_allowed(campaign.benchmark, "audit"),
        notify.Kind.AUDIT_OPENED,
        text,
        benchmark=campaign.benchmark,
        address=campaign.get_absolute_url(),
        by=by,
    )


def _packet(campaign: AuditCampaign, position: int, decision: FrozenDecision, first: Packet | None = None) -> Packet:
    return Packet(
        campaign=campaign,
        position=position,
        kind=decision.content.kind,
        stratum=decision.stratum[:100],
        sampling_weight=decision.weight,
        content=decision.content.model_dump(mode="json"),
        sealed=decision.sealed.model_dump(mode="json", exclude={"answers"}),
        source=decision.source,
        cluster=decision.cluster,
        control=decision.control,
        known=dict(decision.known),
        labels=dict(decision.labels),
        origin=decision.origin,
        truth=decision.truth,
        involved=sorted(decision.excluded if campaign.own_tasks else decision.excluded | decision.involved),
        first=first,
    )


def validate_auditors(benchmark: Benchmark, overlap: int, auditors: Collection[User]) -> set[int]:
    """Keys of those who will judge; no ``auditors``: all of the benchmark's. Raises OptionsError if too few."""
    if overlap < 1:
        raise OptionsError("people", "At least one person judges each decision.")
    eligible = set(
        Membership.objects.filter(benchmark=benchmark, role__in=ALLOWED["audit"]).values_list("user_id", flat=True)
    )
    if ineligible := [str(user) for user in auditors if user.pk not in eligible]:
        raise OptionsError(
            "auditors", (f"{', '.join(ineligible)} cannot audit here. Give them the auditor role first.")
        )
    chosen = {user.pk for user in auditors} or eligible
    count = len(chosen)
    if count < overlap:
        people = "person is" if count == 1 else "people are"
        raise OptionsError(
            "people", f"{overlap} people must judge each decision, but only {count} {people} assigned. Add auditors."
        )
    return chosen


def _validate_involvement(decisions: Sequence[FrozenDecision], overlap: int, people: set[int]) -> None:
    short = [decision for decision in decisions if len(people - decision.involved - decision.excluded) < overlap]
    if short:
        raise OptionsError(
            "auditors",
            f"For {len(short)} of the {len(decisions)} decisions there are not {overlap} auditors who neither wrote, "
            f"edited nor approved the task. Add auditors, or allow people to judge their own tasks.",
        )


def instructions_html(campaign: AuditCampaign) -> str:
    """Safe; empty without instructions of the audit's own."""
    return markdown(campaign.instructions) if campaign.instructions else ""


@atomic_with_retry
def close_campaign(campaign: AuditCampaign, *, by: User) -> None:
    row = AuditCampaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if row.state == AuditCampaign.State.CLOSED:
        return
    row.state, row.closed_at = AuditCampaign.State.CLOSED, timezone.now()
    row.save(update_fields=["state", "closed_at"])
    record_event(row, "audit_closed", f"Closed the audit “{row.name}”", by=by)


@atomic_with_retry
def reopen_campaign(campaign: AuditCampaign, *, by: User, reason: str) -> None:
    """Let people judge on, and take answers back. Its results were open in the meantime, which its history tells.
    Raises OptionsError.
    """
    row = AuditCampaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if row.state == AuditCampaign.State.OPEN:
        return
    if not reason.strip():
        raise OptionsError("reason", "Say in one sentence why the audit is reopened; it stays in its history.")
    row.state, row.closed_at = AuditCampaign.State.OPEN, None
    row.save(update_fields=["state", "closed_at"])
    told = f"the audit “{row.name}”: {reason.strip()}"
    record_event(row, "audit_reopened", f"Reopened {told}", by=by)
    _notify_auditors(row, f"reopened {told}", by=by)


VERBS = ("audit_opened", "audit_closed", "audit_reopened", "verdicts_corrected")


@dataclass(frozen=True)
class CampaignHistory:
    events: Sequence[Event]
    """Openings, closings and reopenings, oldest first."""
    taken_back: int
    """Answers that auditors took back."""
    after_results: int
    """Answers given after the audit was first closed: their auditors may have seen the results."""
    openings: Sequence[Opening]
    """Who saw what it seals, and when first."""
    after_opening: int
    """Answers of people who had seen it: they count in nothing."""

    @property
    def was_reopened(self) -> bool:
        return any(event.verb == "audit_reopened" for event in self.events)


def history_of(campaign: AuditCampaign) -> CampaignHistory:
    rows = Event.objects.filter(benchmark=campaign.benchmark_id, verb__in=VERBS, data__campaign=campaign.pk)
    events = list(rows.select_related("actor").order_by("pk"))
    judgments = Judgment.objects.filter(packet__campaign=campaign)
    closed: datetime | None = next((event.at for event in events if event.verb == "audit_closed"), None)
    answers = judgments.exclude(state=Judgment.State.UNDONE)
    seen = Openings([campaign.pk])
    return CampaignHistory(
        events=events,
        taken_back=judgments.filter(state=Judgment.State.UNDONE).count(),
        after_results=answers.filter(created_at__gt=closed).count() if closed else 0,
        openings=list(campaign.openings.select_related("person")),
        after_opening=sum(
            seen.before(at, campaign.pk, auditor) for auditor, at in answers.values_list("auditor", "created_at")
        ),
    )
