"""What people may see and do in audits, and the answers that count."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection

from django.db.models import QuerySet

from annotations.models import AuditCampaign, Judgment, Packet
from studio.models import Benchmark, Membership, Role, User

OPENERS = (Role.OWNER, Role.RELEASE_MANAGER)
ADJUDICATORS = (Role.AUDITOR, Role.OWNER, Role.RELEASE_MANAGER)

Answers = dict[int, dict[int, str]]
"""Packet → auditor → answer; those taken back are left out."""


def visible_campaigns(user: User) -> QuerySet[AuditCampaign]:
    """The campaigns of every benchmark the person belongs to."""
    mine = Membership.objects.filter(user=user.pk).values("benchmark")
    return AuditCampaign.objects.filter(benchmark__in=mine).select_related("benchmark", "created_by")


def roles_of(user: User, benchmark_id: int) -> frozenset[str]:
    return frozenset(Membership.objects.filter(user=user.pk, benchmark=benchmark_id).values_list("role", flat=True))


def benchmarks_to_audit(user: User) -> QuerySet[Benchmark]:
    """Where the person may open campaigns."""
    mine = Membership.objects.filter(user=user.pk, role__in=OPENERS).values("benchmark")
    return Benchmark.objects.filter(pk__in=mine)


def is_auditor(user: User, campaign: AuditCampaign) -> bool:
    """Asked in this campaign: an auditor of the benchmark, and named if anybody is."""
    if Role.AUDITOR not in roles_of(user, campaign.benchmark_id):
        return False
    named = set(campaign.auditors.values_list("pk", flat=True))
    return not named or user.pk in named


def may_open(user: User, benchmark_id: int) -> bool:
    return not roles_of(user, benchmark_id).isdisjoint(OPENERS)


def may_adjudicate(user: User, packet: Packet) -> bool:
    """Someone of the benchmark who has not judged this packet themselves."""
    if roles_of(user, packet.campaign.benchmark_id).isdisjoint(ADJUDICATORS):
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


def pending_packets(campaign: AuditCampaign, user: User, answers: Answers | None = None) -> list[int]:
    """Packets the person is still to judge, in an order of their own (so that people do not meet), drawn once."""
    if campaign.state != AuditCampaign.State.OPEN or not is_auditor(user, campaign):
        return []
    answers = answers_of([campaign.pk]) if answers is None else answers
    settled = set(campaign.packets.filter(adjudications__isnull=False).values_list("pk", flat=True))
    waiting = [
        pk
        for pk in campaign.packets.values_list("pk", flat=True)
        if pk not in settled and user.pk not in answers.get(pk, {}) and len(answers.get(pk, {})) < campaign.overlap
    ]
    return sorted(waiting, key=lambda pk: _place(campaign.seed, user.pk, pk))


def sees_results(user: User, campaign: AuditCampaign) -> bool:
    """An auditor sees what the judge and colleagues said only when nothing is left to judge."""
    return not pending_packets(campaign, user)


def _place(*numbers: int) -> str:

    return hashlib.sha256(repr(numbers).encode()).hexdigest()
