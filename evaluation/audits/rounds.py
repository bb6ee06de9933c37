"""Which judging of a pilot an audit is about: a pilot that was judged again has several rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import QuerySet

from annotations.campaigns import CampaignError
from evaluation.grading.judgings import scoring_choice
from evaluation.models import Judging, JudgingRound, Pilot
from evaluation.models.judgings import Purpose

Rounds = Mapping[int, JudgingRound]
"""By pilot."""


def auditable_rounds(pilots: Iterable[Pilot]) -> QuerySet[JudgingRound]:
    """Those whose judgings are all finished, without what models answered in audits."""
    unfinished = Judging.objects.filter(round__number__gt=1).exclude(state=Judging.State.FINISHED)
    rows = JudgingRound.objects.filter(pilot__in=pilots).exclude(purpose=Purpose.AUDIT)
    return rows.exclude(pk__in=unfinished.values("round")).order_by("number", "pilot__number")


def choose_rounds(pilots: Iterable[Pilot], number: int | None) -> Rounds:
    """Round ``number`` of each pilot; by default the one that scores it. Raises CampaignError."""
    if number is None:
        return {pilot.pk: scoring_choice(pilot).round for pilot in pilots}
    pilots = list(pilots)
    found = {row.pilot_id: row for row in auditable_rounds(pilots).filter(number=number)}
    missing = ", ".join(str(pilot.number) for pilot in pilots if pilot.pk not in found)
    if missing:
        raise CampaignError(
            "round", f"Pilot {missing} has no finished round {number}. Choose another round, or leave that pilot out."
        )
    return found
