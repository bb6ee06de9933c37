"""Before a judge or a version of its prompts may score a release, it is compared with people on the regression set, and
with the judge in use, which it must not be worse than. Also every judge that decided something of the set."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from annotations.decided import credited
from annotations.intervals import Rate, clustered_wilson
from annotations.models import AuditCampaign, Packet
from annotations.sources import SESSION
from evaluation.audits.model_answers import answers_of_round
from evaluation.audits.paired import PairedCase, PairedComparison, compare
from evaluation.audits.regression import JudgeRecord, RegressionCase, judge_records, regression_cases
from evaluation.judging.judgings import judge_name, scoring_choices
from evaluation.models import Judging, JudgingRound, Pilot, Release
from evaluation.models.judgings import Purpose
from studio.models import Benchmark

ENOUGH = 10
"""Sessions on which a judge must have been compared, or all that the set has."""

Identity = tuple[str, tuple[tuple[str, str], ...]]
"""The judge as ``judge_name`` says, and the content of each of its prompts."""


@dataclass(frozen=True)
class ScoringJudge:
    name: str
    """With its prompt: ``judge-1 with checklist prompt 3``."""
    pilots: tuple[int, ...]
    """Numbers of those it scores."""


@dataclass(frozen=True)
class UncomparedJudge:
    judge: ScoringJudge
    compared: int
    """Sessions of the set that it judged."""
    needed: int


@dataclass(frozen=True)
class WorseJudge:
    judge: ScoringJudge
    in_use: str
    """The judge and prompt that it was compared with."""
    comparison: PairedComparison


def worse_judges(benchmark: Benchmark, pilots: Collection[Pilot]) -> list[WorseJudge]:
    """Those that score the pilots and are worse, beyond chance, than the judge in use."""
    in_use = round_in_use(benchmark) if pilots else None
    if in_use is None:
        return []
    scoring = _scoring_judges(pilots)
    scoring.pop(identity_of(in_use), None)
    if not scoring:
        return []
    cases = regression_cases(benchmark, real_only=True)
    answers = _answers_by_identity(cases)
    before = answers.get(identity_of(in_use), {})
    rows = [
        WorseJudge(judge, _full_name(in_use), _compare(cases, before, answers.get(identity, {})))
        for identity, judge in scoring.items()
    ]
    return [row for row in rows if row.comparison.is_worse]


def round_in_use(benchmark: Benchmark) -> JudgingRound | None:
    """What scored the newest pilot of the newest release; before the first release, what judged the sessions that
    people audited last, as they ran.
    """
    rounds = JudgingRound.objects.filter(pilot__benchmark=benchmark).select_related("pilot")
    release = Release.objects.filter(benchmark=benchmark).first()
    pilots = release.manifest.get("evidence", {}).get("pilots", ()) if release else ()
    for pilot in sorted(pilots, key=lambda row: -int(row["number"])):
        number = pilot.get("judging", {}).get("round", 1)
        if found := rounds.filter(pilot__number=pilot["number"], number=number).first():
            return found
    sessions = _audited_sessions(benchmark)
    newest = Judging.objects.filter(session__in=sessions, round__purpose=Purpose.SCORING).order_by("-session", "-pk")
    judging = newest.first()
    return rounds.get(pk=judging.round_id) if judging and judging.round_id else None


def compare_with_judge_in_use(
    benchmark: Benchmark, cases: Collection[RegressionCase]
) -> list[tuple[JudgingRound, PairedComparison]]:
    """Every judge and version of prompts that decided some of the cases, beside the one in use, newest first."""
    in_use = round_in_use(benchmark)
    if in_use is None:
        return []
    answers = _answers_by_identity(cases)
    before = answers.get(identity_of(in_use), {})
    newest = {identity_of(row): row for row in _rounds_over(cases)}
    rows = [(row, _compare(cases, before, answers[identity])) for identity, row in newest.items() if row != in_use]
    rows = [(row, found) for row, found in rows if identity_of(row) != identity_of(in_use) and found.wrong.n]
    return sorted(rows, key=lambda each: -each[0].pk)


Answers = dict[str, dict[str, str]]
"""By source of the session, by key of the question."""


def _answers_by_identity(cases: Collection[RegressionCase]) -> dict[Identity, Answers]:
    """Of each judge, as its newest round decided; rounds that may score come before those that never do."""
    found: dict[Identity, Answers] = defaultdict(dict)
    for row in _rounds_over(cases):
        found[identity_of(row)] |= answers_of_round(row)
    return found


def _rounds_over(cases: Collection[RegressionCase]) -> list[JudgingRound]:
    sessions = {int(case.source.removeprefix(SESSION)) for case in cases}
    judged = Judging.objects.filter(session__in=sessions, round__isnull=False, asked__isnull=True)
    rows = JudgingRound.objects.filter(pk__in=judged.values("round")).select_related("pilot")
    return sorted(rows, key=lambda row: (row.purpose in (Purpose.SCORING, Purpose.REJUDGING), row.pk))


def _compare(cases: Collection[RegressionCase], before: Answers, now: Answers) -> PairedComparison:
    pairs = [
        (case, before[case.source][case.key], now[case.source][case.key])
        for case in cases
        if case.key in before.get(case.source, {}) and case.key in now.get(case.source, {})
    ]
    return compare(
        PairedCase(
            cluster=case.source,
            credit=credited(case.people),
            right_before=old == case.people,
            right_now=new == case.people,
            passed_before=credited(old),
            passed_now=credited(new),
        )
        for case, old, new in pairs
    )


def uncompared_judges(benchmark: Benchmark, pilots: Collection[Pilot]) -> list[UncomparedJudge]:
    """Those that score the pilots. Without a set, as before the first audit of whole sessions, there are none."""
    sessions = _audited_sessions(benchmark) if pilots else set()
    if not sessions:
        return []
    compared = _sessions_by_identity(sessions)
    needed = min(ENOUGH, len(sessions))
    rows = [
        UncomparedJudge(judge, len(compared.get(identity, ())), needed)
        for identity, judge in _scoring_judges(pilots).items()
    ]
    return [row for row in rows if row.compared < needed]


def _scoring_judges(pilots: Collection[Pilot]) -> dict[Identity, ScoringJudge]:
    """In a fixed order."""
    names: dict[Identity, str] = {}
    numbers: dict[Identity, set[int]] = defaultdict(set)
    number_of = {pilot.pk: pilot.number for pilot in pilots}
    for key, choice in scoring_choices(pilots).items():
        identity = identity_of(choice.round)
        names.setdefault(identity, _full_name(choice.round))
        numbers[identity].add(number_of[key])
    return {identity: ScoringJudge(names[identity], tuple(sorted(numbers[identity]))) for identity in sorted(names)}


def identity_of(judging_round: JudgingRound) -> Identity:
    prompts = judging_round.prompts.items()
    return (
        json.dumps([judge_name(judging_round.judge), judging_round.judge.get("params")], sort_keys=True),
        tuple(sorted((name, str(prompt["sha256"])) for name, prompt in prompts)),
    )


def _audited_sessions(benchmark: Benchmark) -> set[int]:
    """Keys of the sessions that people decided in audits of real judges."""
    decided = Packet.objects.filter(
        campaign__benchmark=benchmark,
        campaign__unit=AuditCampaign.Unit.SESSION,
        campaign__scripted=False,
        control="",
        consensus__isnull=False,
    )
    sources = decided.values_list("source", flat=True)
    return {int(source.removeprefix(SESSION)) for source in sources if source.startswith(SESSION)}


def _sessions_by_identity(sessions: Iterable[int]) -> dict[Identity, set[int]]:
    judged = Judging.objects.filter(session__in=sessions, state=Judging.State.FINISHED, scoring__gt="").order_by()
    pairs = set(judged.values_list("round", "session"))
    rounds = JudgingRound.objects.in_bulk({key for key, _ in pairs if key})
    found: dict[Identity, set[int]] = defaultdict(set)
    for key, session in pairs:
        if key in rounds:
            found[identity_of(rounds[key])].add(session)
    return found


def _full_name(judging_round: JudgingRound) -> str:
    return f"{judge_name(judging_round.judge)} with {prompt_name(judging_round)}"


def prompt_name(judging_round: JudgingRound) -> str:
    checklist = judging_round.prompts.get("checklist")
    return f"checklist prompt {checklist['version']}" if checklist else "its prompts"


@dataclass(frozen=True)
class JudgeRow:
    record: JudgeRecord
    in_use: bool
    comparison: PairedComparison | None
    """With the one in use; None for that one, and where both have decided nothing in common."""

    @property
    def prompts(self) -> str:
        return ", ".join(f"{name.replace('_', '-')} {version}" for name, version in self.record.prompts.items())

    @property
    def accuracy(self) -> Rate:
        return clustered_wilson(self.record.right)


def judge_rows(benchmark: Benchmark, cases: list[RegressionCase] | None = None) -> list[JudgeRow]:
    cases = regression_cases(benchmark) if cases is None else cases
    in_use = round_in_use(benchmark)
    compared = {identity_of(row): found for row, found in compare_with_judge_in_use(benchmark, cases)}
    rows = []
    for judging_round, record in judge_records(benchmark, cases):
        used = in_use is not None and identity_of(judging_round) == identity_of(in_use)
        rows.append(JudgeRow(record, used, None if used else compared.get(identity_of(judging_round))))
    return rows


def judges_document(benchmark: Benchmark) -> dict[str, Any]:
    cases = regression_cases(benchmark)
    return {
        "benchmark": benchmark.slug,
        "cases": [asdict(case) for case in cases],
        "judges": [_row_json(row) for row in judge_rows(benchmark, cases)],
    }


def _row_json(row: JudgeRow) -> dict[str, Any]:
    found = asdict(row.record)
    del found["right"]
    comparison = row.comparison and asdict(row.comparison) | {"worse": row.comparison.is_worse}
    return found | {"in_use": row.in_use, "beside_judge_in_use": comparison}
