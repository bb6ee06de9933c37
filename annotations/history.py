"""What happened to an audit, and which answers were given after its results had been open to everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from annotations.models import AuditCampaign, Judgment, Opening
from annotations.seals import Openings
from studio.models import Event

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
