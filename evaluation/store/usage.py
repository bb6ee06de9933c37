"""Tokens of a session's model calls, by who uses them."""

from __future__ import annotations

from django.db.models import Sum
from django.db.models.functions import Coalesce

from evaluation.models import ModelCall, Session, Verdict
from evaluation.protocol.scoring import ScoringMode

PART_BY_PURPOSE = {
    "agent": "agent",
    "satisfaction": "user",
    "follow_up": "user",
    "voice": "user",
    "checklist_strict": "judge",
    "checklist_compat": "judge",
}


def tokens_by_mode(session: Session) -> dict[str, int]:
    """What each scoring mode relies on, by column of the session: a call that both share is paid once."""
    judged = Verdict.objects.filter(judging__session=session, judging__round__number=1, model_call__isnull=False)
    used = Coalesce(Sum("prompt_tokens"), 0) + Coalesce(Sum("completion_tokens"), 0)
    return {
        f"{mode}_tokens": ModelCall.objects.filter(
            pk__in=judged.filter(judging__scoring=mode).values("model_call")
        ).aggregate(used=used)["used"]
        for mode in ScoringMode
    }
