"""How many verdicts score as people decided, to be said wherever these scores stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q

from annotations.models import AuditCampaign
from annotations.sources import AUDIT
from evaluation.models import Pilot, Session, VerdictCorrection
from evaluation.models.judgings import scoring_round


@dataclass(frozen=True)
class CorrectedVerdicts:
    number: int
    audit: AuditCampaign | None
    """That found them wrong."""


def corrected_in_pilots(pilots: Collection[Pilot]) -> list[CorrectedVerdicts]:
    """With the sessions that they took over."""
    taken = Pilot.taken_sessions.through.objects.filter(pilot__in=pilots)
    session = "verdict__judging__session"
    return _corrected(Q(**{f"{session}__run__pilot__in": pilots}) | Q(**{f"{session}__in": taken.values("session")}))


def corrected_in_session(session: Session) -> list[CorrectedVerdicts]:
    return _corrected(Q(verdict__judging__session=session))


def _corrected(where: Q) -> list[CorrectedVerdicts]:
    scoring = Q(verdict__judging__round=scoring_round("verdict__judging__session__run__pilot"))
    rows = VerdictCorrection.objects.filter(where & scoring).order_by("verdict_id", "-pk").distinct("verdict_id")
    sources = Counter(
        source for source, met, judged in rows.values_list("source", "met", "verdict__met") if met != judged
    )
    keys = {int(source.removeprefix(AUDIT)) for source in sources if source.startswith(AUDIT)}
    audits = {f"{AUDIT}{key}": row for key, row in AuditCampaign.objects.in_bulk(keys).items()} if keys else {}
    return [CorrectedVerdicts(number, audits.get(source)) for source, number in sorted(sources.items())]
