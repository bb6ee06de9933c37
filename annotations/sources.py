"""What audits know nothing of and ask by name: models that audit the same packets as people. ``MODEL_AUDITORS`` in the
settings says who knows. Models stand in a row of their own in every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.module_loading import import_string

from annotations.models import AuditCampaign

AUDIT = "audit:"
"""Before an audit's key: names it to others."""
PILOT = "pilot:"
"""Before a pilot's key: names it as what an audit sampled."""
SESSION = "session:"
"""Before a session's key: names it as the source of a packet."""
VERDICT = "verdict:"
"""Before a decision's key, likewise."""


@dataclass(frozen=True)
class ModelAuditor:
    campaign: int
    name: str
    answers: Mapping[str, Mapping[str, str]]
    """By source of the packet, by key of the question; after majority over its samples. Empty without a majority."""
    samples: int
    scripted: bool
    waiting: int
    """Judgings that are still to come."""
    stopped: int
    """Judgings that technical failures stopped."""
    where_stopped: str
    """Path of the page where they are tried again; empty if none did."""
    cost: str
    """In US dollars, so far."""
    estimate: str | None
    """Before it started; None: not known."""
    judges_itself: bool
    """It is the model that scored: its disagreement is with itself."""
    second: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """As ``answers``, to what is asked again in truth."""


def audit_name(campaign: AuditCampaign) -> str:
    """Names the audit to those who let a model take part, or let its answers score."""
    return f"{AUDIT}{campaign.pk}"


def model_auditors(campaigns: Sequence[AuditCampaign]) -> list[ModelAuditor]:
    if not campaigns:
        return []
    read: Callable[[Sequence[AuditCampaign]], list[ModelAuditor]] = import_string(settings.MODEL_AUDITORS)
    return read(campaigns)
