"""Opening audits of what judges decided in pilots.

Audits know nothing of verdicts: each is frozen into a packet with what the judge saw, and its decision
sealed beside it. A scripted judge may be audited for practice; such an audit is marked and never evidence.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction
from django.utils.crypto import salted_hmac
from pydantic import Field

from annotations.campaigns import MAX_INSTRUCTIONS, CampaignPlan, FrozenDecision, open_campaign, validate_auditors
from annotations.gold import draw_gold
from annotations.models import AuditCampaign
from annotations.sampling import decisions_needed, draw_sample, sessions_needed
from evaluation.audits.blindness import closed_pilots
from evaluation.audits.campaigns import frozen_names, is_judged_by_script, model_names, source_of
from evaluation.audits.freezing import UNIFORM, draw_decisions, freeze_sessions
from evaluation.audits.planted_questions import Planter
from evaluation.audits.rounds import choose_rounds
from evaluation.audits.sessions import AuditableSession, Strata, as_candidate, as_population, auditable_sessions
from evaluation.models import Pilot
from studio.domain.options import Options, OptionsError
from studio.models import Benchmark, User

DEFAULT_SIZE = 60
DEFAULT_SESSIONS = 120
"""As in the paper, section F.1."""
DEFAULT_PEOPLE = 3
MAX_PEOPLE = 9
MAX_SIZE = 2_000
MAX_CONTROLS = 30
"""Percent of the packets that may be control items of a kind."""


class AuditOptions(Options):
    pilots: list[int] = Field(min_length=1)
    """Their ids, as in their pages’ addresses."""
    round: int | None = Field(default=None, ge=1)
    """Which judging, if pilots were judged again; left out, the round that scores each."""
    rounds: dict[int, int] = Field(default_factory=dict)
    """Instead of `round`, for each pilot: `{"12": 2}`. Pilots left out: the round that scores."""
    unit: AuditCampaign.Unit = Field(default=AuditCampaign.Unit.DECISION, title="What people judge at a time")
    """Whole sessions say how often scores are right in truth: people see everything that happened. Single decisions
    say how often the judge is right given what it was shown, as the paper’s Table 6 does. A release wants both."""
    strata: AuditCampaign.Strata | None = Field(default=None, title="How they are drawn")
    """As usual: as many sessions from each pilot; decisions by kind, answer, persona and pilot."""
    name: str = Field(default="", max_length=200)
    """Left blank: “Audit of pilot …”."""
    size: int | None = Field(
        default=None,
        ge=1,
        le=MAX_SIZE,
        title="How many",
        description=f"Left blank: {DEFAULT_SESSIONS} sessions or {DEFAULT_SIZE} decisions. With 60 decisions, a rate "
        "of 3 % is known to about ± 5 points.",
    )
    half_width: float | None = Field(
        default=None,
        ge=0.5,
        le=40,
        title="Or as many as give this precision",
        description="Points to either side of the rate of disagreement, if it is about 3 %: "
        + ", ".join(f"± {points} takes {decisions_needed(points / 100)} decisions" for points in (5, 3, 2))
        + ". Whole sessions count each of their questions.",
    )
    people: int = Field(default=DEFAULT_PEOPLE, ge=1, le=MAX_PEOPLE, title="People for each")
    """The majority counts. With two or more, you also see how well people agree with each other."""
    second: float = Field(default=0, ge=0, le=100, title="Ask single decisions again, in truth")
    """In percent. After all first answers the whole session opens, and the same is asked again; the first answers then
    stay."""
    gold: float = Field(default=0, ge=0, le=MAX_CONTROLS, title="Items with a known answer")
    """In percent, on top: first those whose answers were typed under Known answers, then what earlier audits here
    decided beyond doubt. In no score."""
    planted: float = Field(default=0, ge=0, le=MAX_CONTROLS, title="Planted wrong verdicts")
    """In percent: items of other tasks, which these sessions cannot meet. They tell who looks and who says yes to
    everything. Nobody sees which they are before the audit is closed. In no score."""
    auditors: list[str] = Field(default_factory=list)
    """By username; none: every auditor of the benchmark."""
    due: dt.date | None = Field(default=None, title="By when")
    """Auditors see it with the days that are left. Nothing stops on that day."""
    instructions: str = Field(default="", max_length=MAX_INSTRUCTIONS, title="Instructions of your own")
    """What counts here, with examples. Auditors read them before the first question and can look at them at each. They
    cannot be changed once the audit is open. Markdown works: **bold**, - lists, > quotes."""
    own_tasks: bool = Field(default=False, title="People may judge tasks they wrote, edited or approved")
    """Better not: they know what they meant."""
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """The same seed draws the same sample again."""


@transaction.atomic
def open_audit(benchmark: Benchmark, options: AuditOptions, *, by: User | None) -> AuditCampaign:
    """Sample what judges decided in pilots, and freeze it for people to judge. Raises OptionsError."""
    return open_campaign(plan_audit(benchmark, options, by=by), by=by)


def plan_audit(benchmark: Benchmark, options: AuditOptions, *, by: User | None) -> CampaignPlan:
    """What ``open_audit`` opens. Raises OptionsError."""
    pilots, auditors = _pilots(benchmark, options, by), _auditors(benchmark, options)
    whole = options.unit == AuditCampaign.Unit.SESSION
    strata = options.strata or (Strata.PILOT if whole else Strata.ANSWER)
    if whole and strata == Strata.ANSWER:
        raise OptionsError("strata", "A whole session has many answers. Choose another way to draw sessions.")
    seed = options.seed
    if options.rounds and options.round is not None:
        raise OptionsError("rounds", "Give either this or one round for all.")
    rounds = choose_rounds(pilots, options.rounds or options.round)
    sessions = {row.source: row for row in auditable_sessions(pilots, rounds, strata)} if whole else {}
    size = _size_for(options.half_width, sessions, whole=whole) if options.size is None else options.size
    if not 1 <= size <= MAX_SIZE:
        raise OptionsError("size", f"Choose between 1 and {MAX_SIZE} {'sessions' if whole else 'decisions'}.")
    if len({row.protocol for row in rounds.values()}) > 1:
        raise OptionsError("pilots", "These were judged under different protocols. Audit each protocol apart.")
    people = validate_auditors(benchmark, options.people, auditors)
    names = {name for row in pilots for name in model_names(row) | frozen_names(rounds[row.pk].judge)}
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
            benchmark, options.unit, wanted, seed, without=sampled, auditors=people, people=options.people
        )
        if not items:
            raise OptionsError(
                "gold",
                "No earlier audit of this benchmark has decided anything beyond doubt yet, and nobody has typed known "
                "answers. Type some under Known answers first, or leave this blank.",
            )
        frozen = [*frozen, *items]
    frozen = sorted(frozen, key=lambda row: _place(seed, row.source))
    again = [row for row in frozen if row.second is not None]
    chosen = random.Random(f"second {seed}").sample(again, _count_of(options.second, again))
    numbers = ", ".join(str(row.number) for row in pilots)
    return CampaignPlan(
        benchmark,
        frozen,
        name=options.name or f"Audit of pilot{'s' if len(pilots) > 1 else ''} {numbers}"[:200],
        source=" ".join(map(source_of, pilots)),
        seed=seed,
        overlap=options.people,
        scripted=any(row.scripted or is_judged_by_script(rounds[row.pk]) for row in pilots),
        rounds={source_of(row): rounds[row.pk].number for row in pilots},
        auditors=auditors,
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


def _place(seed: int, source: str) -> str:
    """By which packets are ordered. Nobody can compute it who knows the seed alone, so that the place of a packet tells
    neither its stratum, and with it what the judge decided, nor whether its answer is known."""
    return salted_hmac("place of a packet", f"{seed} {source}").hexdigest()


def _pilots(benchmark: Benchmark, options: AuditOptions, by: User | None) -> list[Pilot]:
    rows = Pilot.objects.filter(benchmark=benchmark).exclude(pk__in=closed_pilots(by)).order_by("pk")
    pilots = list(rows.filter(pk__in=options.pilots))
    if missing := set(options.pilots) - {row.pk for row in pilots}:
        known = ", ".join(str(pk) for pk in rows.values_list("pk", flat=True)) or "none"
        raise OptionsError(
            "pilots", f"There is no pilot {', '.join(map(str, sorted(missing)))} here. There are: {known}."
        )
    return pilots


def _auditors(benchmark: Benchmark, options: AuditOptions) -> list[User]:
    found = list(User.objects.filter(username__in=options.auditors, memberships__benchmark=benchmark).distinct())
    if unknown := set(options.auditors) - {user.username for user in found}:
        raise OptionsError("auditors", f"{', '.join(sorted(unknown))} cannot audit here.")
    return found


def _in_truth(row: FrozenDecision, weight: float) -> FrozenDecision:
    """A control item stays one, so that the second question does not tell what is none."""
    assert row.second is not None
    return replace(row, content=row.second, weight=row.weight * weight, truth=True, known={}, second=None)


def _count_of(percent: float, packets: Sequence[object]) -> int:
    return math.ceil(percent / 100 * len(packets))


def _size_for(half_width: float | None, sessions: Mapping[str, AuditableSession], *, whole: bool) -> int:
    if half_width is None:
        return DEFAULT_SESSIONS if whole else DEFAULT_SIZE
    if not whole:
        return decisions_needed(half_width / 100)
    questions = sum(len(row.questions) for row in sessions.values()) / max(1, len(sessions))
    return sessions_needed(half_width / 100, questions)
