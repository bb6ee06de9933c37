"""Who may see and do what in audits, and the answers that count."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotations.models import Adjudication, AuditCampaign, Judgment, Packet
from studio.access import ALLOWED, benchmarks_for, roles_in, why_not
from studio.models import Benchmark, Event, Membership, User

AUDITORS, OPENERS = ALLOWED["audit"], ALLOWED["plan_audit"]
ADJUDICATORS = AUDITORS | OPENERS

RESULTS_OPENED = "audit_results_read"
"""After it an auditor can neither judge nor undo, so that their answers stay blind."""

Answers = dict[int, dict[int, str]]
"""Packet → auditor → answer, without undone ones."""


def visible_campaigns(user: User) -> QuerySet[AuditCampaign]:
    return AuditCampaign.objects.filter(benchmark__in=benchmarks_for(user)).select_related("benchmark", "created_by")


def benchmarks_to_audit(user: User) -> QuerySet[Benchmark]:
    allowed = Membership.objects.filter(user=user.pk, role__in=OPENERS).values("benchmark")
    return Benchmark.objects.filter(pk__in=allowed)


def is_auditor(user: User, campaign: AuditCampaign) -> bool:
    """An auditor of the benchmark and, if the campaign assigns people, one of them."""
    return campaign.pk in _assigned([campaign], user)


def has_opened_results(user: User, campaign: AuditCampaign) -> bool:
    return campaign.pk in _opened_results([campaign], user)


def may_adjudicate(user: User, packet: Packet) -> bool:
    """An adjudicator of the benchmark who has not judged the packet."""
    if roles_in(user, packet.campaign.benchmark).isdisjoint(ADJUDICATORS):
        return False
    return user.pk not in answers_of([packet.campaign_id]).get(packet.pk, {})


def why_not_adjudicate(user: User, packet: Packet) -> str:
    if roles_in(user, packet.campaign.benchmark).isdisjoint(ADJUDICATORS):
        return why_not("plan_audit", packet.campaign.benchmark)
    return "You judged this decision yourself, so somebody else has to adjudicate it."


def answers_of(campaign_ids: Collection[int]) -> Answers:
    newest = (
        Judgment.objects.filter(packet__campaign__in=campaign_ids)
        .order_by("packet_id", "auditor_id", "-number")
        .distinct("packet_id", "auditor_id")
        .values_list("packet_id", "auditor_id", "answer")
    )
    answers: Answers = defaultdict(dict)
    for packet, auditor, answer in newest:
        if answer != Judgment.Answer.UNDONE:
            answers[packet][auditor] = answer
    return dict(answers)


@dataclass(frozen=True)
class Share:
    """A campaign's progress and one person's part in it."""

    packets: int
    resolved: int
    """Packets that enough people judged or someone adjudicated."""
    done: int
    """Packets this person judged."""
    undoable: tuple[int, ...]
    """Packets this person judged and has not opened the results of."""
    pending: tuple[int, ...]
    """Packets left for this person, in a stable order of their own, so that auditors rarely judge the same one."""


def shares_of(campaigns: Sequence[AuditCampaign], user: User) -> dict[int, Share]:
    """By campaign, in a constant number of queries. Nothing is pending for a person who is not assigned."""
    ids = [campaign.pk for campaign in campaigns]
    answers = answers_of(ids)
    packets: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    rows = Packet.objects.filter(campaign__in=ids).annotate(
        adjudicated=Exists(Adjudication.objects.filter(packet=OuterRef("pk")))
    )
    for pk, campaign, adjudicated in rows.values_list("pk", "campaign_id", "adjudicated"):
        packets[campaign].append((pk, adjudicated))
    assigned = _assigned(campaigns, user) - _opened_results(campaigns, user)
    return {
        campaign.pk: _share(
            campaign,
            user,
            packets[campaign.pk],
            answers,
            assigned=campaign.pk in assigned,
        )
        for campaign in campaigns
    }


def _share(
    campaign: AuditCampaign, user: User, packets: Sequence[tuple[int, bool]], answers: Answers, *, assigned: bool
) -> Share:
    assigned = assigned and campaign.state == AuditCampaign.State.OPEN
    enough = {pk for pk, adjudicated in packets if adjudicated or len(answers.get(pk, {})) >= campaign.overlap}
    judged = {pk for pk, _ in packets if user.pk in answers.get(pk, {})}
    pending = [pk for pk, _ in packets if assigned and pk not in enough and pk not in judged]
    return Share(
        packets=len(packets),
        resolved=len(enough),
        done=len(judged),
        undoable=tuple(sorted(judged)) if assigned else (),
        pending=tuple(sorted(pending, key=lambda pk: _personal_order(campaign.seed, user.pk, pk))),
    )


def pending_packets(campaign: AuditCampaign, user: User) -> tuple[int, ...]:
    return shares_of([campaign], user)[campaign.pk].pending


def blind_sources(user: User) -> set[str]:
    """Sources of the open audits in which a person judges blind: in which something is left for them to judge or to
    take back, until they open the results. Whoever shows these sources elsewhere hides them from this person.
    """
    audited = Membership.objects.filter(user=user.pk, role__in=AUDITORS).values("benchmark")
    campaigns = list(AuditCampaign.objects.filter(benchmark__in=audited, state=AuditCampaign.State.OPEN))
    if not campaigns:
        return set()
    shares = shares_of(campaigns, user)
    return {row.source for row in campaigns if shares[row.pk].pending or shares[row.pk].undoable}


def sees_results(user: User, campaign: AuditCampaign) -> bool:
    closed = campaign.state == AuditCampaign.State.CLOSED
    return closed or not is_auditor(user, campaign) or has_opened_results(user, campaign)


def _assigned(campaigns: Collection[AuditCampaign], user: User) -> set[int]:
    benchmarks = {campaign.benchmark_id for campaign in campaigns}
    audited = set(
        Membership.objects.filter(user=user.pk, role__in=AUDITORS, benchmark__in=benchmarks).values_list(
            "benchmark_id", flat=True
        )
    )
    named: dict[int, set[int]] = defaultdict(set)
    for campaign_id, person in AuditCampaign.auditors.through.objects.filter(
        auditcampaign__in=[campaign.pk for campaign in campaigns]
    ).values_list("auditcampaign_id", "user_id"):
        named[campaign_id].add(person)
    return {
        campaign.pk
        for campaign in campaigns
        if campaign.benchmark_id in audited and user.pk in (named[campaign.pk] or {user.pk})
    }


def _opened_results(campaigns: Collection[AuditCampaign], user: User) -> set[int]:
    rows = Event.objects.filter(
        actor=user.pk, verb=RESULTS_OPENED, benchmark__in={campaign.benchmark_id for campaign in campaigns}
    )
    return {data.get("campaign") for data in rows.values_list("data", flat=True)}


def _personal_order(*numbers: int) -> str:
    return hashlib.sha256(repr(numbers).encode()).hexdigest()
