"""Judging the stored sessions of a pilot again, without running its agent: the plan with its cost, and the start."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, Max, QuerySet, Sum
from pydantic import Field

from evaluation.endpoints.connection import find_model, has_batches
from evaluation.grading.questions import AskedQuestion, asked_together
from evaluation.judging.judgings import next_number, prompt_names
from evaluation.leases import wake_workers
from evaluation.metrics.extrapolation import sum_of_known
from evaluation.models import Judging, JudgingRound, ModelCall, ModelEndpoint, Pilot, Session, Verdict
from evaluation.models.endpoints import IDENTITY, freeze_endpoint
from evaluation.models.judgings import Purpose
from evaluation.models.pilots import Role
from evaluation.protocol.participants import Tokens
from evaluation.protocol.prompt_files import CURRENT, IN_TRUTH, NAMES, PromptName, load_prompt, versions_under
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from studio.domain.options import Options, OptionsError
from studio.models import User
from studio.models.transactions import atomic_with_retry

MAX_SAMPLES = 20
SCORINGS = ("", *(str(mode) for mode in ScoringMode))
"""Intents, and the checklist in both modes."""
ONE_PASS = ("", str(ScoringMode.STRICT))
"""What the paper protocol judges."""
AUDIT_SAMPLES_FROM = 1_001
"""Samples of audits are asked anew, also of the judge that scores: the record would make it agree with itself."""


class RejudgingOptions(Options):
    """What is left out stays as the pilot ran."""

    judge: str = ""
    """Another judge decides on intents and on the checklist."""
    protocol: ProtocolName | None = None
    """What judges see. The conversation stays as it was held."""
    prompt: str = Field(default="", title="Prompt version")
    """Of every prompt that has it."""
    samples: int = Field(default=1, ge=1, le=MAX_SAMPLES)
    """How often each question is asked. More than one shows how stable the judge is."""
    every_turn: bool = Field(default=False, title="Judge every turn in strict")
    """Strict stops at the first turn that meets an item. Needed to score by the last turn."""
    batched: bool = Field(default=False, title="In batches, at half the price")
    """Answers may take a day, and what a judge is asked next waits for the next batch."""
    sessions: list[int] = Field(default_factory=list)
    """Only these, by their ids; none: all finished sessions."""


@dataclass(frozen=True)
class RejudgingEstimate:
    """What judging again would take, by what the same sessions took before."""

    calls: int
    tokens: int
    cost: str | None
    """In US dollars; None: a judge's price, or what was used, is not known."""
    recorded: int
    """Judgings, or of single decisions questions, that the record answers in full."""


KEY = ("session", "scoring", "sample", "judge", "prompts")
"""Columns that ``_key`` takes."""
Asked = Mapping[tuple[int, str], Sequence[AskedQuestion]]
"""By session and scoring mode."""


@dataclass(frozen=True)
class Audited:
    """An audit in which a judge takes part."""

    name: str = ""
    like: JudgingRound | None = None
    """The judging that it is about."""
    asked: Asked = field(default_factory=dict)
    """What it asks."""
    in_truth: bool = False
    """Whether they are asked with the whole record."""


class Key(NamedTuple):
    session: int
    scoring: str
    sample: int
    judge: str
    prompts: str


@dataclass(frozen=True)
class RejudgingPlan:
    pilot: Pilot
    options: RejudgingOptions
    audit: Audited
    judges: Mapping[str, ModelEndpoint]
    """By scoring mode; the empty one judges intents."""
    prompts: Mapping[PromptName, dict[str, str]]
    sessions: tuple[int, ...]
    purpose: str
    protocol: ProtocolName

    @property
    def judged(self) -> Iterator[tuple[int, str]]:
        """Session and scoring mode of the judgings, whatever their sample."""
        if self.audit.asked:
            yield from self.audit.asked
        else:
            for scoring in ONE_PASS if self.protocol == ProtocolName.PAPER else SCORINGS:
                for session in self.sessions:
                    yield session, scoring

    @property
    def sample_numbers(self) -> range:
        first = AUDIT_SAMPLES_FROM if self.audit.name else 1
        return range(first, first + self.options.samples)

    @cached_property
    def estimate(self) -> RejudgingEstimate:
        """In batches, at half the price."""
        return _estimate(self)

    def key(self, session: int, scoring: str, sample: int) -> Key:
        judge = freeze_endpoint(self.judges[scoring])
        return _key(session, scoring, sample, judge, self.prompts_of(scoring))

    def prompts_of(self, scoring: str) -> dict[str, dict[str, str]]:
        return {name: self.prompts[name] for name in prompt_names(scoring)}


def known_versions(protocol: ProtocolName) -> list[str]:
    """Of any prompt, oldest first."""
    return sorted({version for name in NAMES for version in versions_under(protocol, name)}, key=int)


def plan_rejudging(pilot: Pilot, options: RejudgingOptions, audit: Audited | None = None) -> RejudgingPlan:
    """``audit``: in which the judge takes part. Raises OptionsError."""
    audit = audit or Audited()
    judge = find_model(pilot.benchmark, options.judge, "judge") if options.judge else None
    roles: dict[str, Role] = {scoring: "judge" if scoring else "user_model" for scoring in SCORINGS}
    judges = {scoring: judge or pilot.endpoint(role) for scoring, role in roles.items()}
    first = audit.like or JudgingRound.objects.get(pilot=pilot, number=1)
    seen = ProtocolName(options.protocol or first.protocol)
    prompts = _prompts(first, seen, options.prompt)
    if audit.in_truth:
        prompts = {name: load_prompt(name, IN_TRUTH[name]).identity for name in NAMES}
    asked = {session for session, _ in audit.asked}
    chosen = tuple(sorted(asked)) if asked else _sessions(pilot, options.sessions)
    again = (
        options.samples > 1
        and judge is None
        and all(first.prompts.get(name) == identity for name, identity in prompts.items())
    )
    if options.batched:
        for each in judges.values():
            if not has_batches(each):
                raise OptionsError("batched", f"The service of “{each}” takes no batches.")
    purpose = Purpose.AUDIT if audit.name else Purpose.STABILITY if again else Purpose.REJUDGING
    return RejudgingPlan(pilot, options, audit, judges, prompts, chosen, purpose, seen)


@atomic_with_retry
def start_rejudging(plan: RejudgingPlan, *, by: User | None) -> JudgingRound:
    """Create the round with its judgings, and wake the workers."""
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=plan.pilot.pk)
    created = JudgingRound.objects.create(
        pilot=pilot,
        number=next_number(pilot.rounds.all()),
        purpose=plan.purpose,
        judge=freeze_endpoint(plan.judges[ScoringMode.STRICT]),
        prompts=dict(plan.prompts),
        protocol=plan.protocol,
        samples=plan.options.samples,
        every_turn=plan.options.every_turn,
        batched=plan.options.batched,
        estimate=asdict(plan.estimate),
        source=plan.audit.name,
        created_by=by,
    )
    Judging.objects.bulk_create(
        Judging(
            session_id=session,
            round=created,
            purpose=plan.purpose,
            scoring=scoring,
            sample=sample,
            endpoint_id=plan.judges[scoring].pk,
            judge=freeze_endpoint(plan.judges[scoring]),
            prompts=plan.prompts_of(scoring),
            asked=[asdict(row) for row in plan.audit.asked[session, scoring]] if plan.audit.asked else None,
            scripted=plan.judges[scoring].scripted,
            state=Judging.State.WAITING,
        )
        for session, scoring in plan.judged
        for sample in plan.sample_numbers
    )
    pilot.record("rejudged", f"Judged pilot {pilot.number} again.", by, round=created.number)
    wake_workers()
    return created


def resume_round(judging_round: JudgingRound) -> int:
    """Take up what technical failures stopped; returns how many judgings."""
    stopped = Judging.objects.filter(round=judging_round, state=Judging.State.ERROR)
    number = stopped.update(state=Judging.State.WAITING, reason="")
    wake_workers()
    return number


def _prompts(first: JudgingRound, protocol: ProtocolName, version: str) -> dict[PromptName, dict[str, str]]:
    if version and version not in known_versions(protocol):
        known = ", ".join(known_versions(protocol))
        raise OptionsError("prompt", f"No prompt has a version “{version}”; there are {known}.")
    ran = first.prompts if protocol == first.protocol else {}
    prompts = {}
    for name in NAMES:
        before = str(ran.get(name, {}).get("version") or CURRENT[protocol][name])
        prompts[name] = load_prompt(name, version if version in versions_under(protocol, name) else before).identity
    return prompts


def _sessions(pilot: Pilot, wanted: Collection[int]) -> tuple[int, ...]:
    rows = Session.objects.filter(
        run__pilot=pilot,
        state=Session.State.FINISHED,
        **{f"graded_{mode}_at__isnull": False for mode in pilot.terms.modes},
    )
    judged = list(rows.order_by("run", "position").values_list("pk", flat=True))
    if unknown := sorted(set(wanted) - set(judged)):
        raise OptionsError("sessions", f"Session {unknown[0]} is not a finished session of this pilot.")
    chosen = tuple(pk for pk in judged if not wanted or pk in set(wanted))
    if not chosen:
        raise OptionsError("sessions", "No session of this pilot is finished and judged yet.")
    return chosen


Work = tuple[int, str, int, Tokens, tuple[object, ...]]
"""What a sample of a judging, or of a question, takes: session, scoring mode, calls, tokens, and which question."""


def _estimate(plan: RejudgingPlan) -> RejudgingEstimate:
    finished = Judging.objects.filter(session__in=plan.sessions, state=Judging.State.FINISHED)
    works, recorded = (_questions if plan.audit.asked else _whole)(plan, finished)
    calls, tokens, known = 0, Tokens(), 0
    costs: list[Decimal | None] = []
    for session, scoring, number, used, question in works:
        for sample in plan.sample_numbers:
            if (plan.key(session, scoring, sample), *question) in recorded:
                known += 1
            else:
                calls, tokens = calls + number, tokens + used
                costs.append(plan.judges[scoring].cost_of(used))
    cost = sum_of_known(costs)
    share = 2 if plan.options.batched else 1
    return RejudgingEstimate(calls, tokens.total, None if cost is None else str(cost / share), known)


def _whole(plan: RejudgingPlan, finished: QuerySet[Judging]) -> tuple[list[Work], set[tuple[object, ...]]]:
    took = _took_before(plan.sessions)
    works: list[Work] = []
    for session, scoring in plan.judged:
        source = ScoringMode.COMPAT if plan.options.every_turn and scoring else scoring
        number, used = took.get((session, source)) or took.get((session, scoring), (0, Tokens()))
        works.append((session, scoring, number, used, ()))
    rows = finished.filter(asked__isnull=True, round__every_turn=plan.options.every_turn)
    return works, {(_key(*row),) for row in rows.values_list(*KEY)}


def _questions(plan: RejudgingPlan, finished: QuerySet[Judging]) -> tuple[list[Work], set[tuple[object, ...]]]:
    """One call for each prompt. It takes the record that the judge read, and its share of the answer."""
    took = _took_each(plan.sessions)
    mean = _mean(list(took.values()))
    works: list[Work] = [
        (session, scoring, 1, took.get((session, scoring, row.kind, row.turn), mean), (row.kind, row.turn, row.text))
        for session, scoring in plan.judged
        for row, *_ in asked_together(plan.audit.asked[session, scoring])
    ]
    rows = finished.filter(asked__isnull=False).values_list(*KEY, "asked")
    return works, {(_key(*row), each["kind"], each["turn"], each["text"]) for *row, asked in rows for each in asked}


def _took_each(sessions: Sequence[int]) -> dict[tuple[int, str, str, int], Tokens]:
    """Of one decision, by session, scoring mode, kind and turn: its call's prompt, and its share of the answer."""
    rows = (
        Verdict.objects.filter(judging__session__in=sessions, judging__round__number=1, model_call__isnull=False)
        .order_by()
        .values_list("judging__session", "judging__scoring", "kind", "turn")
        .annotate(
            number=Count("pk"), prompt=Max("model_call__prompt_tokens"), completion=Max("model_call__completion_tokens")
        )
    )
    return {
        (session, scoring, kind, turn): Tokens(prompt, None if completion is None else math.ceil(completion / number))
        for session, scoring, kind, turn, number, prompt, completion in rows
    }


def _mean(rows: Sequence[Tokens]) -> Tokens:
    number = max(1, len(rows))
    return Tokens(sum(row.prompt or 0 for row in rows) // number, sum(row.completion or 0 for row in rows) // number)


def _took_before(sessions: Sequence[int]) -> dict[tuple[int, str], tuple[int, Tokens]]:
    """Calls and tokens of the sessions' own judgings, by session and scoring mode."""
    rows = (
        ModelCall.objects.filter(session__in=sessions, judging__round__number=1, answered=True)
        .order_by()
        .values_list("session", "judging__scoring")
        .annotate(number=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    )
    return {
        (session, scoring): (number, Tokens(prompt, completion))
        for session, scoring, number, prompt, completion in rows
    }


def _key(session: int, scoring: str, sample: int, judge: Mapping[str, Any], prompts: Mapping[str, Any]) -> Key:
    identity = json.dumps([judge.get(name) for name in IDENTITY], sort_keys=True)
    return Key(session, scoring, sample, identity, json.dumps(prompts, sort_keys=True))
