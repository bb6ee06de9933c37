"""Adjudication: someone else decides where auditors have no majority."""

from __future__ import annotations

from django.db.models import QuerySet

from annotations.consensus import majority_answer, update_consensus
from annotations.models import Adjudication, AuditCampaign, Consensus, Packet
from annotations.visibility import ADJUDICATORS, Answers, Share, answers_of, may_adjudicate, shares_of
from studio.models import Membership, User
from studio.models.transactions import atomic_with_retry


class AdjudicationError(Exception):
    """The decision was rejected. ``field`` names the invalid entry, if there is one."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def adjudicable_packets(user: User, campaigns: QuerySet[AuditCampaign]) -> dict[AuditCampaign, list[int]]:
    """Positions of undecided packets that the user may adjudicate now, by campaign, in a constant number of queries.
    Nothing of a campaign in which the user still judges blind."""
    allowed = Membership.objects.filter(user=user.pk, role__in=ADJUDICATORS).values("benchmark")
    undecided = (
        Consensus.objects.filter(decision=None, packet__campaign__in=campaigns.filter(benchmark__in=allowed))
        .exclude(packet__judgments__auditor=user.pk)
        .order_by("packet__campaign", "packet__position")
        .values_list("packet__campaign", "packet__position")
    )
    positions: dict[int, list[int]] = {}
    for campaign, position in undecided:
        positions.setdefault(campaign, []).append(position)
    if not positions:
        return {}
    rows = list(AuditCampaign.objects.filter(pk__in=positions).select_related("benchmark").order_by("created_at"))
    shares = shares_of(rows, user)
    return {row: positions[row.pk] for row in rows if not _may_still_judge(shares[row.pk])}


def _may_still_judge(share: Share) -> bool:
    return bool(share.pending or share.returning or share.undoable)


def undecided_packets(campaign: AuditCampaign, answers: Answers | None = None) -> list[int]:
    answers = answers_of([campaign.pk]) if answers is None else answers
    rows = campaign.packets.filter(adjudications__isnull=True).order_by("position").values_list("pk", flat=True)
    return [
        pk
        for pk in rows
        if len(answers.get(pk, {})) >= campaign.overlap and majority_answer(answers.get(pk, {}).values()) is None
    ]


@atomic_with_retry
def adjudicate(packet: Packet, *, by: User, decision: bool, reason: str) -> Adjudication:
    """Record the final decision on a packet without a majority; the newest one counts. Raises AdjudicationError."""
    packet = Packet.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=packet.pk)
    answers = answers_of([packet.campaign_id]).get(packet.pk, {})
    if not may_adjudicate(by, packet):
        raise AdjudicationError("Someone who has not judged this decision must adjudicate it.")
    if len(answers) < packet.campaign.overlap:
        raise AdjudicationError("Not everyone assigned has judged this decision yet.")
    if majority_answer(answers.values()) is not None:
        raise AdjudicationError("Most auditors agree on this decision; there is nothing to adjudicate.")
    if not reason.strip():
        raise AdjudicationError("Give your reason in one sentence; the auditors will see it.", "reason")
    row = Adjudication.objects.create(packet=packet, by=by, decision=decision, reason=reason.strip())
    update_consensus(packet)
    return row
