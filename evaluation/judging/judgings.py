"""Judgings as rows: those that sessions make as they run, and which of them score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from evaluation.grading.credit import CreditRule, default_rules
from evaluation.grading.questions import AskedQuestion
from evaluation.models import Judging, JudgingRound, ModelEndpoint, Pilot, ScoringChoice, Session
from evaluation.models.endpoints import freeze_endpoint, thaw_endpoint
from evaluation.models.judgings import Purpose
from evaluation.models.pilots import Role
from evaluation.protocol.prompt_files import NAMES, PromptName, current_prompts
from evaluation.protocol.scoring import ScoringMode
from studio.celery import enqueue
from studio.models import Benchmark, User

COMPUTE_RESULTS = "evaluation.tasks.compute_results"
Rules = Mapping[ScoringMode, CreditRule]


def prompt_names(scoring: str) -> tuple[PromptName, ...]:
    """Of a judging in a scoring mode; of intents if it is empty."""
    return ("checklist",) if scoring else ("satisfaction", "follow_up")


def next_number(rows: QuerySet[Any, Any]) -> int:
    """Whoever takes it holds what they are numbered within."""
    return int(rows.aggregate(last=Max("number"))["last"] or 0) + 1


def create_pilot(benchmark: Benchmark, by: User | None, **fields: Any) -> Pilot:
    """With the round that scores it until somebody chooses another: by the current prompts, unless it was judged
    elsewhere. The caller holds the benchmark."""
    number = next_number(benchmark.pilots.all())
    pilot = Pilot.objects.create(benchmark=benchmark, number=number, created_by=by, **fields)
    prompts = {} if pilot.imported else current_prompts(pilot.terms.protocol)
    judge = freeze_endpoint(pilot.endpoint("judge"))
    first = JudgingRound.objects.create(
        pilot=pilot,
        number=1,
        purpose=Purpose.SCORING,
        judge=judge,
        prompts=prompts,
        protocol=pilot.protocol,
        created_by=by,
    )
    rules = rules_to_json(default_rules(pilot.terms.protocol))
    ScoringChoice.objects.create(pilot=pilot, round=first, rules=rules, by=by)
    return pilot


def open_judging(session: Session, scoring: str) -> Judging:
    """The session's own, in the pilot's first round. Those of a rehearsal belong to no round."""
    return open_judgings(session, [scoring])[0]


def open_judgings(session: Session, scorings: Sequence[str]) -> list[Judging]:
    """Likewise, of several scoring modes."""
    rows = []
    for scoring in scorings:
        row = new_judging(session, scoring)
        made = {name: getattr(row, name) for name in ("endpoint_id", "judge", "prompts")}
        row, _ = Judging.objects.get_or_create(made, session=session, round=row.round, scoring=scoring, sample=1)
        rows.append(row)
    return rows


def new_judging(session: Session, scoring: str, **fields: Any) -> Judging:
    """Likewise, not saved."""
    run = session.run
    first = first_round(run.pilot_id) if run.pilot_id else None
    prompts = first.prompts if first else current_prompts(run.terms.protocol)
    role: Role = "judge" if scoring else "user_model"
    endpoint = session.endpoint(role)
    return Judging(
        session=session,
        round=first,
        scoring=scoring,
        endpoint_id=endpoint.pk if endpoint else None,
        judge=freeze_endpoint(endpoint) if endpoint else {},
        prompts={name: prompts[name] for name in prompt_names(scoring) if name in prompts},
        **fields,
    )


@lru_cache(64)
def first_round(pilot_id: int) -> JudgingRound:
    """With whose prompts its sessions are judged as they run. Rounds do not change."""
    return JudgingRound.objects.get(pilot=pilot_id, number=1)


def close_judging(*judgings: Judging) -> None:
    open_ones = Judging.objects.filter(pk__in=[judging.pk for judging in judgings], finished_at=None)
    open_ones.update(state=Judging.State.FINISHED, finished_at=timezone.now())


def judge_of(judging: Judging) -> ModelEndpoint:
    """As it was frozen. Made once for each object of the judging, because that does not change."""
    found: ModelEndpoint | None = judging.__dict__.get("_judge")
    if found is None:
        assert judging.endpoint is not None
        found = judging.__dict__["_judge"] = thaw_endpoint(judging.endpoint, judging.judge)
    return found


def asked_in(judging: Judging) -> list[AskedQuestion]:
    """What an audit asks."""
    return [AskedQuestion(**row) for row in judging.asked or ()]


def versions_of(made: Judging | JudgingRound) -> dict[PromptName, str]:
    """Of its prompts."""
    return {name: str(made.prompts[name]["version"]) for name in NAMES if name in made.prompts}


def judge_name(judge: Mapping[str, Any]) -> str:
    """All that a frozen judge's decisions depend on but its prompts: model, effort, and its temperature unless it is 0,
    as judges are asked; ``default`` where the service refuses to be told."""
    temperature = (judge.get("params") or {}).get("temperature", 0)
    if "temperature" in (judge.get("learned") or {}).get("dropped", ()):
        temperature = "default"
    parts = (judge.get("model"), judge.get("effort"), temperature and f"temperature {temperature}")
    return " · ".join(str(part) for part in parts if part)


def rules_to_json(rules: Rules) -> dict[str, Any]:
    return {str(mode): asdict(rule) for mode, rule in rules.items()}


def rules_from(names: Mapping[str, str], before: Rules) -> Rules:
    """``names`` by ``compat``, ``strict`` and ``samples``; what is not named stays as ``before``."""
    return {
        mode: CreditRule(names.get(mode) or before[mode].turns, names.get("samples", before[mode].samples))
        for mode in ScoringMode
    }


def rules_of(choice: ScoringChoice) -> Rules:
    return {mode: CreditRule(**choice.rules[mode]) for mode in ScoringMode}


def scoring_choices(pilots: Iterable[Pilot]) -> dict[int, ScoringChoice]:
    """The latest of each pilot."""
    latest = ScoringChoice.objects.filter(pilot__in=pilots).order_by("pilot_id", "-pk").distinct("pilot_id")
    return {choice.pilot_id: choice for choice in latest.select_related("round", "by")}


def scoring_choice(pilot: Pilot) -> ScoringChoice:
    """The latest."""
    return pilot.scoring_choices.select_related("round", "by")[:1].get()


def recompute_results(benchmark_id: int) -> None:
    """Once this transaction commits."""
    transaction.on_commit(lambda: enqueue(COMPUTE_RESULTS, [benchmark_id]), robust=True)
