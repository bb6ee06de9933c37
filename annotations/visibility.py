"""What people may see and do in audits, and the answers that count."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotations.models import Adjudication, AuditCampaign, Judgment, Packet
from studio.access import ALLOWED, benchmarks_for, roles_in
from studio.models import Benchmark, Event, Membership, User

AUDITORS, OPENERS = ALLOWED["audit"], ALLOWED["plan_audit"]
ADJUDICATORS = AUDITORS | OPENERS

RESULTS_OPENED = "audit_results_read"
"""An auditor who has seen the results is asked no more, and takes nothing back: what they said stays blind."""

Answers = dict[int, dict[int, str]]
"""Packet → auditor → answer; those taken back are left out."""


def visible_campaigns(user: User) -> QuerySet[AuditCampaign]:
    """The campaigns of every benchmark the person belongs to."""
    return AuditCampaign.objects.filter(benchmark__in=benchmarks_for(user)).select_related("benchmark", "created_by")


def benchmarks_to_audit(user: User) -> QuerySet[Benchmark]:
    """Where the person may open campaigns."""
    mine = Membership.objects.filter(user=user.pk, role__in=OPENERS).values("benchmark")
    return Benchmark.objects.filter(pk__in=mine)


def is_auditor(user: User, campaign: AuditCampaign) -> bool:
    """Asked in this campaign: an auditor of the benchmark, and named if anybody is."""
    return campaign.pk in _assigned([campaign], user)


def has_opened_results(user: User, campaign: AuditCampaign) -> bool:
    return campaign.pk in _opened_results([campaign], user)


def may_adjudicate(user: User, packet: Packet) -> bool:
    """Someone of the benchmark who has not judged this packet themselves."""
    if roles_in(user, packet.campaign.benchmark).isdisjoint(ADJUDICATORS):
        return False
    return user.pk not in answers_of([packet.campaign_id]).get(packet.pk, {})


def answers_of(campaign_ids: Collection[int]) -> Answers:
    """The answers that count in these campaigns: each auditor's newest for each packet. One query."""
    newest = (
        Judgment.objects.filter(packet__campaign__in=campaign_ids)
        .order_by("packet_id", "auditor_id", "-number")
        .distinct("packet_id", "auditor_id")
        .values_list("packet_id", "auditor_id", "answer")
    )
    found: Answers = defaultdict(dict)
    for packet, auditor, answer in newest:
        if answer != Judgment.Answer.UNDONE:
            found[packet][auditor] = answer
    return dict(found)


@dataclass(frozen=True)
class Share:
    """How far a campaign is, and one person's part in it."""

    packets: int
    settled: int
    """Enough people have judged, or somebody adjudicated."""
    done: int
    """Judged by this person."""
    open: tuple[int, ...]
    """Of these, the ones they could still take back: nothing, once they have opened the results."""
    pending: tuple[int, ...]
    """Packets this person is still asked, in an order of their own (so that people do not meet), drawn once."""


def shares_of(campaigns: Sequence[AuditCampaign], user: User) -> dict[int, Share]:
    """By campaign, in a constant number of queries. A person who is not asked has nothing pending."""
    ids = [campaign.pk for campaign in campaigns]
    answers = answers_of(ids)
    packets: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    rows = Packet.objects.filter(campaign__in=ids).annotate(
        adjudicated=Exists(Adjudication.objects.filter(packet=OuterRef("pk")))
    )
    for pk, campaign, adjudicated in rows.values_list("pk", "campaign_id", "adjudicated"):
        packets[campaign].append((pk, adjudicated))
    asked = _assigned(campaigns, user) - _opened_results(campaigns, user)
    return {
        campaign.pk: _share(
            campaign,
            user,
            packets[campaign.pk],
            answers,
            asked=campaign.pk in asked,
        )
        for campaign in campaigns
    }


def _share(
    campaign: AuditCampaign, user: User, packets: Sequence[tuple[int, bool]], answers: Answers, *, asked: bool
) -> Share:
    asked = asked and campaign.state == AuditCampaign.State.OPEN
    enough = {pk for pk, adjudicated in packets if adjudicated or len(answers.get(pk, {})) >= campaign.overlap}
    mine = {pk for pk, _ in packets if user.pk in answers.get(pk, {})}
    waiting = [pk for pk, _ in packets if asked and pk not in enough and pk not in mine]
    return Share(
        packets=len(packets),
        settled=len(enough),
        done=len(mine),
        open=tuple(sorted(mine)) if asked else (),
        pending=tuple(sorted(waiting, key=lambda pk: _personal_order(campaign.seed, user.pk, pk))),
    )


def pending_packets(campaign: AuditCampaign, user: User) -> tuple[int, ...]:
    """Packets the person is still asked, in their own order."""
    return shares_of([campaign], user)[campaign.pk].pending


def pending_sources(user: User, source: str = "") -> set[str]:
    """Opaque names of the decisions a person judges blind, in open audits of ``source`` or of anything.

    Those still to be judged, and those they could take back: until they open the audit's results.
    Whoever shows these decisions elsewhere hides them from this person.
    """
    campaigns = visible_campaigns(user).filter(state=AuditCampaign.State.OPEN)
    if source:
        campaigns = campaigns.filter(source=source)
    pending = {pk for share in shares_of(list(campaigns), user).values() for pk in (*share.pending, *share.open)}
    return set(Packet.objects.filter(pk__in=pending).values_list("source", flat=True))


def sees_results(user: User, campaign: AuditCampaign) -> bool:
    """What the judge and colleagues said is for those who are not asked (any more)."""
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
