"""Audits on the to-do list of a person's Home."""

from __future__ import annotations

from django.urls import reverse

from annotations.adjudication import adjudicable_packets
from annotations.models import AuditCampaign
from annotations.visibility import shares_of
from studio.domain.phrases import count_of
from studio.models import Benchmark, User
from studio.reports.todo import TodoGroup, TodoItem, register


def pending_audits(user: User, most: int) -> list[TodoGroup]:
    open_ones = AuditCampaign.objects.filter(
        benchmark__in=Benchmark.objects.of_member(user.pk), state=AuditCampaign.State.OPEN
    )
    campaigns = list(open_ones.select_related("benchmark").order_by("created_at"))
    shares = shares_of(campaigns, user) if campaigns else {}
    pending = [campaign for campaign in campaigns if shares[campaign.pk].pending]
    items = tuple(
        TodoItem(
            campaign.name,
            reverse("annotations:judge", args=[campaign.pk]),
            str(campaign.benchmark),
            "waiting" if not shares[campaign.pk].done else "running",
            f"{len(shares[campaign.pk].pending)} to judge{_due(campaign)}",
        )
        for campaign in pending[:most]
    )
    return [TodoGroup("audits", "Decisions to judge", items, len(pending)), _adjudications(user, most)]


def _due(campaign: AuditCampaign) -> str:
    left = campaign.days_left
    if left is None:
        return ""
    if left < 0:
        return f", overdue by {count_of(-left, 'day')}"
    return f", {count_of(left, 'day')} left" if left else ", due today"


def _adjudications(user: User, most: int) -> TodoGroup:
    waiting = adjudicable_packets(user)
    items = [
        TodoItem(
            campaign.name,
            reverse("annotations:adjudicate_next", args=[campaign.pk]),
            str(campaign.benchmark),
            "waiting",
            f"auditors disagree on {len(positions)}",
        )
        for campaign, positions in waiting.items()
    ]
    return TodoGroup("adjudications", "To adjudicate", tuple(items[:most]), len(items))


def register_todo() -> None:
    register("audits", pending_audits)
