"""The audits that a person may open, for pages and the API alike."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from annotations.models import AuditCampaign, Packet
from annotations.seals import may_see_results
from annotations.visibility import given_answers, is_auditor, visible_campaigns
from studio.access import require
from studio.models import User


def find_campaign(user: User, pk: int | str) -> AuditCampaign:
    """Raises Http404."""
    return get_object_or_404(visible_campaigns(user), pk=pk)


def find_assigned_campaign(user: User, pk: int | str) -> AuditCampaign:
    """Raises Http404, or PermissionDenied unless the person is an auditor of the campaign."""
    row = find_campaign(user, pk)
    require(user, row.benchmark, "audit")
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
