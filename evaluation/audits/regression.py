"""The regression set of judges: what people decided in audits of whole sessions, and how each judge and prompt version
does on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q

from annotations.decided import audited_questions, credited
from annotations.feedback import NO_TEST
from annotations.models import AuditCampaign
from annotations.sources import SESSION
from evaluation.audits.model_answers import answers_of_round
from evaluation.judging.judgings import judge_name
from evaluation.models import Judging, JudgingRound, Verdict
from evaluation.models.judgings import Purpose
from studio.models import Benchmark


@dataclass(frozen=True)
class RegressionCase:
    source: str
    """Of the session."""
    key: str
    kind: str
    people: str
    """The majority, or what was adjudicated."""
    judge_erred: bool
    """Of the judge that scored when the audit was opened."""
    cause: str
    """Named by the adjudicator; a ``Cause``, or empty."""


@dataclass(frozen=True)
class JudgeRecord:
    """A round of judgings beside what people decided."""

    pilot: int
    pilot_number: int
    """In the benchmark."""
    round: int
    purpose: str
    judge: str
    prompts: dict[str, str]
    """Version by name."""
    n: int
    accuracy: float | None
    false_pass: int
    """It gave credit, people do not."""
    false_fail: int
    """It gave no credit, people do."""
    repeated: int
    """Decisions that it made more than once."""
    flips: int
    """Of these, how many did not come out alike."""
    on_errors: float | None
    """Accuracy where the judge that scored had erred."""
    right: tuple[tuple[str, bool], ...]
    """Each decision: its session, and whether it is as people decided."""

    @property
    def purpose_label(self) -> str:
        return Purpose(self.purpose).label


def regression_cases(benchmark: Benchmark, *, real_only: bool = False) -> list[RegressionCase]:
    """The latest audit decides where several asked the same. Questions that adjudicators found ambiguous, out of scope
    or not to be seen in the record test no judge. ``real_only``: without audits of scripted judges."""
    audits = AuditCampaign.objects.filter(benchmark=benchmark, unit=AuditCampaign.Unit.SESSION)
    if real_only:
        audits = audits.filter(scripted=False)
    cases: dict[tuple[str, str], RegressionCase] = {}
    for row in audited_questions(list(audits.order_by("pk").values_list("pk", flat=True))):
        if row.decided is not None and row.cause not in NO_TEST:
            found = RegressionCase(row.cluster, row.key, row.kind, row.decided, row.decided != row.judge, row.cause)
            cases[row.cluster, row.key] = found
    return list(cases.values())


def judge_records(benchmark: Benchmark, cases: Iterable[RegressionCase]) -> list[tuple[JudgingRound, JudgeRecord]]:
    """Of every round that judged one of the cases' sessions in full."""
    by_source: dict[str, list[RegressionCase]] = {}
    for case in cases:
        by_source.setdefault(case.source, []).append(case)
    sessions = [int(source.removeprefix(SESSION)) for source in by_source]
    judged = Judging.objects.filter(session__in=sessions, round__pilot__benchmark=benchmark, asked__isnull=True)
    rounds = JudgingRound.objects.filter(pk__in=judged.values("round")).select_related("pilot").order_by("pk")
    records = [(row, _record(row, by_source)) for row in rounds]
    return [(row, record) for row, record in records if record.n]


def _record(judging_round: JudgingRound, by_source: dict[str, list[RegressionCase]]) -> JudgeRecord:
    answers = answers_of_round(judging_round)
    pairs = [
        (case, answers[source][case.key])
        for source, cases in by_source.items()
        for case in cases
        if case.key in answers.get(source, {})
    ]
    repeated, flips = _flips(judging_round)
    return JudgeRecord(
        pilot=judging_round.pilot_id,
        pilot_number=judging_round.pilot.number,
        round=judging_round.number,
        purpose=judging_round.purpose,
        judge=judge_name(judging_round.judge),
        prompts={name: str(identity["version"]) for name, identity in judging_round.prompts.items()},
        n=len(pairs),
        accuracy=_share([given == case.people for case, given in pairs]),
        false_pass=sum(credited(given) and not credited(case.people) for case, given in pairs),
        false_fail=sum(credited(case.people) and not credited(given) for case, given in pairs),
        repeated=repeated,
        flips=flips,
        on_errors=_share([given == case.people for case, given in pairs if case.judge_erred]),
        right=tuple((case.source, given == case.people) for case, given in pairs),
    )


def _share(hits: list[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def _flips(judging_round: JudgingRound) -> tuple[int, int]:
    """Decisions with several samples, and those of which the samples differ."""
    rows = Verdict.objects.filter(judging__round=judging_round, met__isnull=False).order_by()
    asked = rows.values("judging__session", "judging__scoring", "kind", "turn", "index")
    counted = asked.annotate(n=Count("pk"), yes=Count("pk", filter=Q(met=True))).filter(n__gt=1)
    pairs = list(counted.values_list("n", "yes"))
    return len(pairs), sum(0 < yes < n for n, yes in pairs)
