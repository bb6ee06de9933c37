"""Models that audit the same packets as people. Where their answers come from, ``MODEL_AUDITORS`` in the settings
knows; in every figure they stand in a row of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.module_loading import import_string

from annotations.models import AuditCampaign

SESSION = "session:"
"""Before a session's key: names it as the source of a packet."""


@dataclass(frozen=True)
class ModelAuditor:
    name: str
    answers: Mapping[str, Mapping[str, str]]
    """By source of the packet, by key of the question; after majority over its samples."""
    samples: int
    scripted: bool
    waiting: int
    """Judgings that are not finished."""
    cost: str
    """In US dollars, so far."""
    estimate: str
    """Before it started."""
    judges_itself: bool
    """It is the model that scored: its disagreement is with itself."""


def audit_name(campaign: AuditCampaign) -> str:
    """Names the audit to those who let a model take part."""
    return f"audit:{campaign.pk}"


def session_keys(campaign: AuditCampaign) -> list[int]:
    """Of the sessions that it audits."""
    sources = campaign.packets.filter(kind="session").values_list("source", flat=True)
    return [int(source.removeprefix(SESSION)) for source in sources if source.startswith(SESSION)]


def model_auditors(campaigns: Sequence[AuditCampaign]) -> list[ModelAuditor]:
    read: Callable[[AuditCampaign], list[ModelAuditor]] = import_string(settings.MODEL_AUDITORS)
    return [auditor for campaign in campaigns if campaign.unit == campaign.Unit.SESSION for auditor in read(campaign)]
