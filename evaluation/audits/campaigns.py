"""Opening audits of a pilot's judge, and reading their results.

Audits know nothing of verdicts: each is frozen into a packet with what the judge saw, and its decision
sealed beside it. A scripted judge may be audited for practice; such an audit is marked and never evidence.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from annotations.campaigns import CampaignError, CampaignPlan, FrozenDecision, open_campaign, validate_auditors
from annotations.gold import draw_gold
from annotations.models import AuditCampaign
from annotations.planning import decisions_needed, sessions_needed
from annotations.results import AuditSummary, summarize
from annotations.sampling import draw_sample
from annotations.sources import PILOT
from evaluation.audits.freezing import UNIFORM, Strata, auditable, draw_decisions, freeze_sessions
from evaluation.audits.planted_questions import Planter
from evaluation.audits.rounds import Numbers, choose_rounds
from evaluation.audits.sessions import AuditableSession, as_candidate, as_population, auditable_sessions
from evaluation.models import Judging, JudgingRound, Pilot
from evaluation.models.judgings import scoring_round
from studio.models import Benchmark, User

DEFAULT_SIZE = 60
DEFAULT_SESSIONS = 120
"""As in the paper, section F.1."""
DEFAULT_PEOPLE = 3
MAX_PEOPLE = 9
MAX_SIZE = 2_000
MAX_CONTROLS = 30
"""Percent of the packets that may be control items of a kind."""


def auditable_pilots(benchmark: Benchmark) -> QuerySet[Pilot]:
    path = "runs__sessions__judgings__"
    scores = Q(**{f"{path}round": scoring_round("pk")})
    counted = Count(f"{path}verdicts", filter=auditable(f"{path}verdicts__") & scores)
    pilots = Pilot.objects.filter(benchmark=benchmark).select_related("agent", "judge")
    return pilots.annotate(decisions=counted).filter(decisions__gt=0)


@dataclass(frozen=True)
class AuditOptions:
    """What to draw of what judges decided in pilots, and who judges it. What is not said here is as of the campaign."""

    size: int | None = None
    """None: as many as give the ``half_width``, in points, of the rate of disagreement."""
    half_width: float | None = None
    unit: str = AuditCampaign.Unit.DECISION
    strata: str = ""
    """By default sessions in equal numbers from each pilot, decisions by kind, answer, persona and pilot."""
    gold: float = 0
    """Control items, in percent of the packets, on top of ``size``."""
    planted: float = 0
    """Likewise; but a planted question goes into a session that is audited anyway."""
    second: float = 0
    """In percent of single decisions: asked again, in truth, with the whole session."""
    round: Numbers | None = None
    """The number of the judging that is audited, in each pilot or by pilot; by default the one that scores it."""
    seed: int = 0
    """The same draws the same sample of the same verdicts."""
    overlap: int = 1
    name: str = ""
    auditors: Collection[User] = ()
    own_tasks: bool = False
    due: dt.date | None = None
    instructions: str = ""


def open_audit(pilots: Sequence[Pilot], options: AuditOptions, *, by: User | None) -> AuditCampaign:
    """Sample what judges decided in pilots of a benchmark, and freeze it for people to judge. Raises CampaignError."""
    with transaction.atomic():
        return open_campaign(plan_audit(pilots, options), by=by)


def plan_audit(pilots: Sequence[Pilot], options: AuditOptions) -> CampaignPlan:
    """What ``open_audit`` opens. Raises CampaignError."""
    whole = options.unit == AuditCampaign.Unit.SESSION
    strata = options.strata or (Strata.PILOT if whole else Strata.ANSWER)
    if whole and strata == Strata.ANSWER:
        raise CampaignError("strata", "A whole session has many answers. Choose another way to draw sessions.")
    pilots = list(dict.fromkeys(pilots))
    benchmark, seed = pilots[0].benchmark, options.seed
    rounds = choose_rounds(pilots, options.round)
    sessions = {row.source: row for row in auditable_sessions(pilots, rounds, strata)} if whole else {}
    size = _size_for(options.half_width, sessions, whole=whole) if options.size is None else options.size
    if not 1 <= size <= MAX_SIZE:
        raise CampaignError("size", f"Choose between 1 and {MAX_SIZE} {'sessions' if whole else 'decisions'}.")
    for field, share in (("gold", options.gold), ("planted", options.planted)):
        if not 0 <= share <= MAX_CONTROLS:
            raise CampaignError(field, f"Choose between 0 and {MAX_CONTROLS} percent.")
    if not 0 <= options.second <= 100:
        raise CampaignError("second", "Choose between 0 and 100 percent.")
    if len({row.protocol for row in rounds.values()}) > 1:
        raise CampaignError("pilot", "These were judged under different protocols. Audit each protocol apart.")
    people = validate_auditors(benchmark, options.overlap, options.auditors)
    names = {name for row in pilots for name in model_names(row) | _names_of(rounds[row.pk].judge)}
    if whole:
        drawn = draw_sample(map(as_candidate, sessions.values()), size, seed, uniform=strata in UNIFORM)
        frozen, owners = freeze_sessions([sessions[row.key] for row in drawn], drawn, names)
    else:
        frozen, owners = draw_decisions(pilots, rounds, size, seed, names, strata=strata)
    sampled = [row.source for row in frozen]
    if options.planted:
        frozen = Planter(benchmark, owners, names, seed).plant(frozen, _count_of(options.planted, frozen))
    gold_sources: set[str] = set()
    if options.gold:
        wanted = _count_of(options.gold, sampled)
        items, gold_sources = draw_gold(
            benchmark, options.unit, wanted, seed, without=sampled, auditors=people, people=options.overlap
        )
        if not items:
            raise CampaignError(
                "gold",
                "No earlier audit of this benchmark has decided anything beyond doubt yet, and nobody has typed known "
                "answers. Type some under Known answers first, or leave this blank.",
            )
        frozen = [*frozen, *items]
    if len(frozen) > len(sampled):
        random.Random(f"controls {seed}").shuffle(frozen)
    again = [row for row in frozen if row.second is not None]
    chosen = random.Random(f"second {seed}").sample(again, _count_of(options.second, again))
    numbers = ", ".join(str(row.number) for row in pilots)
    return CampaignPlan(
        benchmark,
        frozen,
        name=options.name or f"Audit of pilot{'s' if len(pilots) > 1 else ''} {numbers}"[:200],
        source=" ".join(map(source_of, pilots)),
        seed=seed,
        overlap=options.overlap,
        scripted=any(row.scripted or is_judged_by_script(rounds[row.pk]) for row in pilots),
        rounds={source_of(row): rounds[row.pk].number for row in pilots},
        auditors=options.auditors,
        own_tasks=options.own_tasks,
        unit=options.unit,
        population=[as_population(row) for row in sessions.values()],
        strata=strata,
        protocol=next(iter(rounds.values())).protocol,
        second=[_in_truth(row, len(again) / len(chosen)) for row in chosen],
        gold_sources=gold_sources,
        due=options.due,
        instructions=options.instructions,
    )


def _in_truth(row: FrozenDecision, weight: float) -> FrozenDecision:
    """A control item stays one, so that the second question does not tell what is none."""
    assert row.second is not None
    return replace(row, content=row.second, weight=row.weight * weight, truth=True, known={}, second=None)


def _count_of(percent: float, packets: Sequence[object]) -> int:
    return math.ceil(percent / 100 * len(packets))


def _size_for(half_width: float | None, sessions: Mapping[str, AuditableSession], *, whole: bool) -> int:
    if half_width is None:
        return DEFAULT_SESSIONS if whole else DEFAULT_SIZE
    try:
        if not whole:
            return decisions_needed(half_width / 100)
        questions = sum(len(row.questions) for row in sessions.values()) / max(1, len(sessions))
        return sessions_needed(half_width / 100, questions)
    except ValueError as error:
        raise CampaignError("half_width", "Choose a precision between 0 and 50 points.") from error


def is_judged_by_script(judging_round: JudgingRound) -> bool:
    """Whether a scripted model answered in a later round, apart from what the pilot itself says."""
    judgings = Judging.objects.filter(round=judging_round, round__number__gt=1)
    return judgings.filter(scripted=True).exists()


def audited_round(campaign: AuditCampaign, pilot: Pilot) -> JudgingRound | None:
    """None in audits of before it was kept."""
    return pilot.rounds.filter(number=campaign.rounds.get(source_of(pilot))).first()


def audits_of(pilot: Pilot) -> QuerySet[AuditCampaign]:
    return AuditCampaign.objects.filter(source__regex=f"(^| ){source_of(pilot)}( |$)")


def audited_pilots(campaign: AuditCampaign) -> QuerySet[Pilot]:
    return Pilot.objects.filter(pk__in=pilot_keys(campaign.source.split()))


def summarize_audits(benchmark: Benchmark, protocol: str, *, truth: bool) -> AuditSummary:
    """Results for all real judges of a benchmark under a protocol, to one of the two questions."""
    rows = AuditCampaign.objects.filter(benchmark=benchmark, scripted=False)
    audits = [row for row in rows if row.protocol == protocol]
    return summarize(audits, truth=truth)


def source_of(pilot: Pilot) -> str:
    return f"{PILOT}{pilot.pk}"


def pilot_keys(sources: Iterable[str]) -> set[int]:
    return {int(name.removeprefix(PILOT)) for name in sources if name.startswith(PILOT)}


def model_names(pilot: Pilot) -> set[str]:
    now = {name for end in (pilot.agent, pilot.user_model, pilot.judge) for name in (end.name, end.model)}
    then = [end for end in pilot.config.values() if isinstance(end, dict)]
    return now.union(*map(_names_of, then))


def _names_of(endpoint: Mapping[str, Any]) -> set[str]:
    """As it was frozen."""
    return {str(endpoint[key]) for key in ("name", "model") if endpoint.get(key)}
