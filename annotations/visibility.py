"""Who may see and do what in audits, and the answers that count."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone

from annotations.models import Adjudication, Answer, AuditCampaign, Judgment, Packet, Seat
from annotations.seals import AUDITORS, Openings, may_see_results, opened_by, sees_results
from studio.access import ALLOWED, AnyUser, benchmarks_for, require, roles_in, why_not
from studio.models import Benchmark, Membership, User

OPENERS = ALLOWED["plan_audit"]
ADJUDICATORS = AUDITORS | OPENERS

Given = dict[int, dict[int, dict[str, str]]]
"""Packet → auditor → answers by question."""
People = dict[int, set[int]]
"""By packet."""
Seats = dict[int, list[tuple[int | None, datetime | None, bool]]]
"""Packet → auditor, end of the lease, whether judged."""


def visible_campaigns(user: AnyUser) -> QuerySet[AuditCampaign]:
    return AuditCampaign.objects.filter(benchmark__in=benchmarks_for(user)).select_related("benchmark", "created_by")


def benchmarks_to_audit(user: User) -> QuerySet[Benchmark]:
    allowed = Membership.objects.filter(user=user.pk, role__in=OPENERS).values("benchmark")
    return Benchmark.objects.filter(pk__in=allowed)


def is_auditor(user: User, campaign: AuditCampaign) -> bool:
    """An auditor of the benchmark and, if the campaign assigns people, one of them."""
    return user.pk in _auditors_of([campaign])[campaign.pk]


def may_adjudicate(user: User, packet: Packet) -> bool:
    """An adjudicator of the benchmark who has not judged the packet."""
    if roles_in(user, packet.campaign.benchmark).isdisjoint(ADJUDICATORS):
        return False
    return user.pk not in given_answers([packet.campaign_id]).get(packet.pk, {})


def why_not_adjudicate(user: User, packet: Packet) -> str:
    if roles_in(user, packet.campaign.benchmark).isdisjoint(ADJUDICATORS):
        return why_not("plan_audit", packet.campaign.benchmark)
    return "You judged this decision yourself, so somebody else has to adjudicate it."


def given_answers(campaign_ids: Collection[int]) -> Given:
    """Without skips, undone answers, what was answered to control items, and by people who had seen what is sealed."""
    return _given(campaign_ids, controls=False)


def control_answers(campaign_ids: Collection[int]) -> Given:
    """What was answered to control items alone."""
    return _given(campaign_ids, controls=True)


def _given(campaign_ids: Collection[int], *, controls: bool) -> Given:
    given: Given = defaultdict(dict)
    openings = Openings(campaign_ids)
    rows = Answer.objects.filter(judgment__in=newest_judgments(campaign_ids)).order_by("packet", "pk")
    columns = "packet__campaign_id", "packet_id", "packet__known", "judgment__auditor_id", "judgment__created_at"
    for campaign, packet, known, auditor, at, question, value in rows.values_list(*columns, "question", "value"):
        if openings.before(at, campaign, auditor):
            continue
        answers = given[packet].setdefault(auditor, {})
        if (question in known) == controls:
            answers[question] = value
    return dict(given)


def newest_judgments(campaign_ids: Collection[int]) -> QuerySet[Judgment]:
    """Of each auditor, for each packet."""
    return (
        Judgment.objects.filter(packet__campaign__in=campaign_ids)
        .order_by("packet_id", "auditor_id", "-number")
        .distinct("packet_id", "auditor_id")
    )


@dataclass(frozen=True)
class AuditorShare:
    """A campaign's progress and one person's part in it."""

    packets: int
    resolved: int
    """Packets that enough people judged or someone adjudicated."""
    done: int
    """Packets this person judged."""
    undoable: tuple[int, ...]
    """Packets this person judged and has not opened the results of."""
    pending: tuple[int, ...]
    """Packets for this person now: those they hold, then free ones in a stable order of their own."""
    returning: bool = False
    """Others have packets now that may come back to this person."""


def shares_of(campaigns: Sequence[AuditCampaign], user: User) -> dict[int, AuditorShare]:
    """By campaign, in a constant number of queries. Nothing is pending for a person who is not assigned."""
    ids = [campaign.pk for campaign in campaigns]
    packets: dict[int, list[_PacketState]] = defaultdict(list)
    rows = Packet.objects.filter(campaign__in=ids).annotate(
        adjudicated=Exists(Adjudication.objects.filter(packet=OuterRef("pk")))
    )
    seats: Seats = defaultdict(list)
    held = Seat.objects.filter(packet__campaign__in=ids)
    for packet, auditor, until, is_judged in held.values_list("packet_id", "auditor_id", "leased_until", "judged"):
        seats[packet].append((auditor, until, is_judged))
    # after the seats: what is answered meanwhile is judged, and not lost between both
    judged: People = defaultdict(set)
    skipped: People = defaultdict(set)
    for packet, auditor, state in newest_judgments(ids).values_list("packet_id", "auditor_id", "state"):
        if state != Judgment.State.UNDONE:
            (judged if state == Judgment.State.GIVEN else skipped)[packet].add(auditor)
    columns = ("pk", "campaign_id", "adjudicated", "involved", "first_id")
    for pk, campaign, adjudicated, involved, first in rows.values_list(*columns):
        before = None if first is None else judged[first]
        packets[campaign].append(_PacketState(pk, adjudicated, involved, seats[pk], judged[pk], skipped[pk], before))
    auditors = _auditors_of(campaigns)
    opened = opened_by(user, campaigns)
    return {
        campaign.pk: _share(
            campaign, user, packets[campaign.pk], set() if campaign.pk in opened else auditors[campaign.pk]
        )
        for campaign in campaigns
    }


@dataclass(frozen=True)
class _PacketState:
    pk: int
    adjudicated: bool
    involved: Collection[int]
    seats: Sequence[tuple[int | None, datetime | None, bool]]
    judged: Collection[int]
    skipped: Collection[int]
    first: Collection[int] | None
    """Who answered the packet that is asked before it; None: there is none."""

    def may_be_taken_by(self, person: int) -> bool:
        if self.first is not None and person not in self.first:
            return False
        return person not in self.judged and person not in self.skipped and person not in self.involved

    def is_free(self, now: datetime) -> bool:
        return any(
            auditor is None or (not judged and until is not None and until < now)
            for auditor, until, judged in self.seats
        )

    def is_held_by(self, person: int) -> bool:
        return any(auditor == person and not judged for auditor, _, judged in self.seats)


def _share(
    campaign: AuditCampaign, user: User, packets: Sequence[_PacketState], auditors: Collection[int]
) -> AuditorShare:
    now = timezone.now()
    assigned = user.pk in auditors and campaign.state == AuditCampaign.State.OPEN
    enough = {row.pk for row in packets if row.adjudicated or len(row.judged) >= campaign.overlap}
    judged = [row.pk for row in packets if user.pk in row.judged]
    answered = [row.pk for row in packets if user.pk in row.judged or user.pk in row.skipped]
    # who has seen a whole session answers no more without it
    seen = any(user.pk in row.judged or row.is_held_by(user.pk) for row in packets if row.first is not None)
    open_rows = [row for row in packets if assigned and row.pk not in enough and not (seen and row.first is None)]
    possible = [row for row in open_rows if row.may_be_taken_by(user.pk)]
    held = {row.pk for row in possible if row.is_held_by(user.pk)}
    offered = sorted(
        (row for row in possible if row.pk in held or row.is_free(now)),
        key=lambda row: (row.pk not in held, _personal_order(campaign.seed, user.pk, row.pk)),
    )
    quota = math.ceil(len(packets) * campaign.overlap / max(1, len(auditors)))
    others = _people_below(quota, packets, now) - {user.pk}
    room = max(quota - len(judged), len(held))
    left = [
        row
        for index, row in enumerate(offered)
        if index < room or not any(row.may_be_taken_by(other) and not row.is_held_by(other) for other in others)
    ]
    pending = [row.pk for row in left if row.first is None] or [row.pk for row in left]
    return AuditorShare(
        packets=len(packets),
        resolved=len(enough),
        done=len(judged),
        undoable=tuple(sorted(answered)) if assigned else (),
        pending=tuple(pending),
        returning=len(pending) < len(possible),
    )


def _people_below(quota: int, packets: Sequence[_PacketState], now: datetime) -> set[int]:
    """Those at work who have taken less than their even share: what they may take is left to them."""
    seats = [seat for row in packets for seat in row.seats]
    taken = Counter(auditor for auditor, _, _ in seats)
    return {
        auditor
        for auditor, until, _ in seats
        if auditor is not None and until is not None and until > now and taken[auditor] < quota
    }


def pending_packets(campaign: AuditCampaign, user: User) -> tuple[int, ...]:
    return shares_of([campaign], user)[campaign.pk].pending


def _auditors_of(campaigns: Collection[AuditCampaign]) -> dict[int, set[int]]:
    """By campaign: its named auditors, or all of the benchmark's."""
    eligible: dict[int, set[int]] = defaultdict(set)
    for benchmark, person in Membership.objects.filter(
        role__in=AUDITORS, benchmark__in={campaign.benchmark_id for campaign in campaigns}
    ).values_list("benchmark_id", "user_id"):
        eligible[benchmark].add(person)
    named: dict[int, set[int]] = defaultdict(set)
    for campaign_id, person in AuditCampaign.auditors.through.objects.filter(
        auditcampaign__in=[campaign.pk for campaign in campaigns]
    ).values_list("auditcampaign_id", "user_id"):
        named[campaign_id].add(person)
    return {
        campaign.pk: eligible[campaign.benchmark_id] & (named[campaign.pk] or eligible[campaign.benchmark_id])
        for campaign in campaigns
    }


def _personal_order(*numbers: int) -> str:
    return hashlib.sha256(repr(numbers).encode()).hexdigest()


def find_campaign(user: User, pk: int | str, action: str = "") -> AuditCampaign:
    """Raises Http404, or PermissionDenied for members who may not do it."""
    row: AuditCampaign = get_object_or_404(visible_campaigns(user), pk=pk)
    if action:
        require(user, row.benchmark, action)
    return row


def find_planned_campaign(user: User, pk: int | str) -> AuditCampaign:
    """For those who plan audits and see its results, which is recorded. Raises Http404, or PermissionDenied."""
    row = find_campaign(user, pk, "plan_audit")
    if not sees_results(user, row):
        raise PermissionDenied("You judge in this audit yourself. Open its results first.")
    return row


def find_assigned_campaign(user: User, pk: int | str) -> AuditCampaign:
    """Raises Http404, or PermissionDenied unless the person is an auditor of the campaign."""
    row = find_campaign(user, pk, "audit")
    if not is_auditor(user, row):
        raise PermissionDenied("Other auditors were chosen for this audit. Whoever opened it can open one for you.")
    return row


def find_packet(campaign: AuditCampaign, position: int | str) -> Packet:
    """Raises Http404."""
    return get_object_or_404(campaign.packets.select_related("campaign"), position=position)


def readable_packets(user: User, campaign: AuditCampaign) -> list[Packet]:
    """All of them to those who see the results; to others those that they hold or answered."""
    packets = list(campaign.packets.select_related("campaign"))
    if may_see_results(user, campaign):
        return packets
    given = given_answers([campaign.pk])
    held = set(campaign.packets.filter(seats__auditor=user).values_list("pk", flat=True))
    return [row for row in packets if row.pk in held or user.pk in given.get(row.pk, {})]
