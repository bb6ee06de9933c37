"""Which pilots can be audited, which audits there are of a pilot, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotations.models import AuditCampaign
from annotations.results import AuditSummary, summarize
from annotations.sources import PILOT
from evaluation.audits.freezing import auditable
from evaluation.models import Judging, JudgingRound, Pilot
from evaluation.models.judgings import scoring_round
from studio.models import Benchmark


def auditable_pilots(benchmark: Benchmark) -> QuerySet[Pilot]:
    path = "runs__sessions__judgings__"
    scores = Q(**{f"{path}round": scoring_round("pk")})
    counted = Count(f"{path}verdicts", filter=auditable(f"{path}verdicts__") & scores)
    pilots = Pilot.objects.filter(benchmark=benchmark).select_related("agent", "judge")
    return pilots.annotate(decisions=counted).filter(decisions__gt=0)


def is_judged_by_script(judging_round: JudgingRound) -> bool:
    """Whether a scripted model answered in a later round, apart from what the pilot itself says."""
    judgings = Judging.objects.filter(round=judging_round, round__number__gt=1)
    return judgings.filter(scripted=True).exists()


def audited_round(campaign: AuditCampaign, pilot: Pilot) -> JudgingRound:
    return pilot.rounds.get(number=campaign.rounds[source_of(pilot)])


def audits_of(pilot: Pilot) -> QuerySet[AuditCampaign]:
    return AuditCampaign.objects.filter(source__regex=f"(^| ){source_of(pilot)}( |$)")


def audited_pilots(campaign: AuditCampaign) -> QuerySet[Pilot]:
    return Pilot.objects.filter(pk__in=pilot_keys(campaign.source.split()))


def summarize_audits(benchmark: Benchmark, protocol: str, *, truth: bool) -> AuditSummary:
    """Results for all real judges of a benchmark under a protocol, to one of the two questions."""
    audits = AuditCampaign.objects.filter(benchmark=benchmark, scripted=False, protocol=protocol)
    return summarize(list(audits), truth=truth)


def source_of(pilot: Pilot) -> str:
    return f"{PILOT}{pilot.pk}"


def pilot_keys(sources: Iterable[str]) -> set[int]:
    return {int(name.removeprefix(PILOT)) for name in sources if name.startswith(PILOT)}


def model_names(pilot: Pilot) -> set[str]:
    now = {name for end in (pilot.agent, pilot.user_model, pilot.judge) for name in (end.name, end.model)}
    then = [end for end in pilot.config.values() if isinstance(end, dict)]
    return now.union(*map(frozen_names, then))


def frozen_names(endpoint: Mapping[str, Any]) -> set[str]:
    """As it was frozen."""
    return {str(endpoint[key]) for key in ("name", "model") if endpoint.get(key)}
