"""Opening and closing audits."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format

from annotations.models import Answer, AuditCampaign, Packet, Population, Seat
from annotations.packets import PacketContent, Sealed
from studio.access import ALLOWED
from studio.files.previews.markup import markdown
from studio.models import Benchmark, Event, Membership, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

MAX_INSTRUCTIONS = 20_000
"""Characters."""


class CampaignError(Exception):
    """The audit cannot be opened. ``field`` names the invalid entry."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


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
    judged: dict[str, tuple[float, float]]
    """Of Proc and Comp: the part of the score that a judge gave, and could have given."""


@transaction.atomic
def open_campaign(
    benchmark: Benchmark,
    decisions: Sequence[FrozenDecision],
    *,
    name: str,
    source: str,
    rounds: Mapping[str, int] | None = None,
    seed: int,
    overlap: int,
    scripted: bool,
    by: User | None,
    auditors: Collection[User] = (),
    own_tasks: bool = False,
    unit: str = AuditCampaign.Unit.DECISION,
    population: Sequence[PopulationRow] = (),
    strata: str = AuditCampaign.Strata.PILOT,
    gold_sources: Collection[str] = (),
    due: dt.date | None = None,
    instructions: str = "",
) -> AuditCampaign:
    """Freeze the decisions, in the given order, as packets. ``gold_sources``: what gold items among them were drawn
    from. Raises CampaignError.
    """
    if not name.strip():
        raise CampaignError("name", "Enter a name for the audit.")
    if not decisions:
        raise CampaignError("size", "There are no judge decisions to audit yet. Finish a pilot first.")
    if due is not None and due < timezone.localdate():
        raise CampaignError("due", "Choose today or a later day, or leave it blank.")
    if len(instructions) > MAX_INSTRUCTIONS:
        raise CampaignError("instructions", f"Keep the instructions under {MAX_INSTRUCTIONS:,} characters.")
    people = validate_auditors(benchmark, overlap, auditors)
    if not own_tasks:
        _validate_involvement(decisions, overlap, people)
    campaign = AuditCampaign.objects.create(
        benchmark=benchmark,
        name=name.strip(),
        source=source,
        rounds=dict(rounds or {}),
        unit=unit,
        seed=seed,
        overlap=overlap,
        own_tasks=own_tasks,
        strata=strata,
        due=due,
        instructions=instructions.strip(),
        controls=_count_controls(decisions, gold_sources),
        scripted=scripted,
        created_by=by,
    )
    campaign.auditors.set(auditors)
    if population:
        Population.objects.create(campaign=campaign, rows=[asdict(row) for row in population])
    packets = Packet.objects.bulk_create(
        Packet(
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
            involved=sorted(decision.excluded if own_tasks else decision.excluded | decision.involved),
        )
        for position, decision in enumerate(decisions, start=1)
    )
    Answer.sealed.bulk_create(
        Answer(packet=packet, question=key, by=Answer.By.JUDGE, value=value)
        for packet, decision in zip(packets, decisions, strict=True)
        for key, value in decision.sealed.answers.items()
    )
    Seat.objects.bulk_create(
        Seat(packet=packet, number=number) for packet in packets for number in range(1, overlap + 1)
    )
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="audit_opened",
        summary=f"Opened the audit “{campaign.name}” of {len(decisions)} {campaign.packets_word}",
        data={"campaign": campaign.pk, "source": source, "seed": seed},
    )
    notify.notify(
        [user.pk for user in auditors] or notify.users_allowed(benchmark, "audit"),
        notify.Kind.AUDIT_OPENED,
        f"opened the audit “{campaign.name}” for you: {len(decisions)} {campaign.packets_word} to judge"
        + (f" by {date_format(due, 'j F Y')}." if due else "."),
        benchmark=benchmark,
        address=campaign.get_absolute_url(),
        by=by,
    )
    return campaign


def _count_controls(decisions: Sequence[FrozenDecision], gold_sources: Collection[str]) -> dict[str, object]:
    counts = Counter(decision.control or "planted" for decision in decisions if decision.known)
    if not counts:
        return {}
    return {"gold": counts["gold"], "planted": counts["planted"], "sources": sorted(gold_sources)}


def validate_auditors(benchmark: Benchmark, overlap: int, auditors: Collection[User]) -> set[int]:
    """Keys of those who will judge; no ``auditors``: all of the benchmark's. Raises CampaignError if too few."""
    if overlap < 1:
        raise CampaignError("overlap", "At least one person judges each decision.")
    eligible = set(
        Membership.objects.filter(benchmark=benchmark, role__in=ALLOWED["audit"]).values_list("user_id", flat=True)
    )
    if ineligible := [str(user) for user in auditors if user.pk not in eligible]:
        raise CampaignError(
            "auditors", (f"{', '.join(ineligible)} cannot audit here. Give them the auditor role first.")
        )
    chosen = {user.pk for user in auditors} or eligible
    count = len(chosen)
    if count < overlap:
        people = "person is" if count == 1 else "people are"
        raise CampaignError(
            "overlap", f"{overlap} people must judge each decision, but only {count} {people} assigned. Add auditors."
        )
    return chosen


def _validate_involvement(decisions: Sequence[FrozenDecision], overlap: int, people: set[int]) -> None:
    short = [decision for decision in decisions if len(people - decision.involved - decision.excluded) < overlap]
    if short:
        raise CampaignError(
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
    Event.objects.create(
        benchmark_id=row.benchmark_id,
        actor=by,
        verb="audit_closed",
        summary=f"Closed the audit “{row.name}”",
        data={"campaign": row.pk},
    )


@atomic_with_retry
def reopen_campaign(campaign: AuditCampaign, *, by: User, reason: str) -> None:
    """Let people judge on, and take answers back. Its results were open in the meantime, which its history tells.
    Raises CampaignError.
    """
    row = AuditCampaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if row.state == AuditCampaign.State.OPEN:
        return
    if not reason.strip():
        raise CampaignError("reason", "Say in one sentence why the audit is reopened; it stays in its history.")
    row.state, row.closed_at = AuditCampaign.State.OPEN, None
    row.save(update_fields=["state", "closed_at"])
    Event.objects.create(
        benchmark_id=row.benchmark_id,
        actor=by,
        verb="audit_reopened",
        summary=f"Reopened the audit “{row.name}”: {reason.strip()}",
        data={"campaign": row.pk},
    )
    notify.notify(
        [user.pk for user in row.auditors.all()] or notify.users_allowed(row.benchmark, "audit"),
        notify.Kind.AUDIT_OPENED,
        f"reopened the audit “{row.name}”: {reason.strip()}",
        benchmark=row.benchmark,
        address=row.get_absolute_url(),
        by=by,
    )
