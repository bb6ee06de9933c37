"""Audit results: how often people disagree with the judge (paper, Table 6), over all and by persona, category, grader,
model, judge and prompts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from annotations.agreement import (
    Coefficient,
    Confusion,
    Unit,
    cohen_kappa,
    count_confusion,
    disagreement,
    estimate,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)
from annotations.decided import AuditedQuestion, asked_once, audited_questions, credited
from annotations.intervals import Rate, clustered_wilson, wilson
from annotations.models import AuditCampaign
from annotations.packets import BROKEN, NOT_SHOWN, STATUSES, VOID
from annotations.sources import ModelAuditor, model_auditors

AXES = {
    "Comp · checklist": ("checklist",),
    "Proc · hidden intents": ("satisfaction", "follow_up", "status"),
    "Intent satisfied": ("satisfaction",),
    "Intent asked for": ("follow_up",),
}
"""The two axes of Table 6 and, for single decisions, the two stages of the second."""
CHECKLIST, INTENTS = list(AXES)[:2]
QUESTIONS = {
    "checklist": "Checklist",
    "satisfaction": "Intent satisfied",
    "follow_up": "Intent asked for",
    "status": "Terminal status",
}
"""The kinds of questions, of each of which chance agreement is another."""
PEOPLE = "People"
DECISIVE = ("yes", "no")


@dataclass(frozen=True)
class ResolvedDecision:
    """A question that people answered, beside the judge's answer."""

    kind: str
    people: str
    judge: str
    weight: float = 1.0
    """How many decisions of the pilot it represents."""
    cluster: str = ""
    """Its session; empty: it stands alone."""


@dataclass(frozen=True)
class DisagreementRow:
    """Disagreement over one kind of decision."""

    label: str
    rate: Rate
    """The share of resolved decisions on which people decided the opposite."""
    too_strict: int
    """The judge gave no credit, people do."""
    too_lenient: int
    """The judge gave credit, people do not. Completed and inferred give the same credit, so that a disagreement on
    these is neither."""


@dataclass(frozen=True)
class SourceRow:
    """A row of Table 6: disagreement of a source with the judging that scores, by majority, nothing adjudicated."""

    source: str
    checklist: DisagreementRow
    intents: DisagreementRow
    open: int
    """Decisions that enough people judged without a majority for yes or no."""
    model: ModelAuditor | None = None
    """None for people."""


@dataclass(frozen=True)
class JudgeErrors:
    """Which way the judge errs on one kind of decision, by what people decided in the end."""

    label: str
    confusion: Confusion
    """Yes is credit: of a status, completed or inferred."""
    false_yes: Rate
    """Of what people decided no: the judge said yes."""
    false_no: Rate
    """Of what people decided yes: the judge said no."""
    kappa: Coefficient | None
    """Cohen's, of the judge and people; None over several kinds of questions."""


@dataclass(frozen=True)
class AgreementRow:
    """Between auditors, over one kind of question; unsure is an answer like the others."""

    kind: str
    questions: int
    """That several people answered."""
    differing_pairs: float | None
    """The share of pairs of answers to the same question that differ."""
    fleiss_kappa: Coefficient
    """Over the questions that as many people answered as were asked to, if that number is the same for all."""
    krippendorff_alpha: Coefficient
    gwet_ac1: Coefficient
    """Over all answers."""


@dataclass(frozen=True)
class AuditSummary:
    """The results of one or more audits, one answer a question. Only resolved decisions count."""

    total: DisagreementRow
    weighted: float | None
    """The rate with each decision weighted by those it represents, since a sample with one of every rare kind is not
    quite proportional."""
    rows: tuple[DisagreementRow, ...]
    not_shown: Rate
    """The share of all decided questions for which what the packet shows is not enough; in no disagreement."""
    broken: Rate
    """Likewise, of those that the environment or the user spoilt."""
    after_looking: DisagreementRow
    """Of the decisions in ``total``, those that somebody answered who had seen the whole session by then."""
    packets: int
    undecided: int
    """Enough people judged, but they differ or are unsure."""
    waiting: int
    """Not enough people have judged yet."""
    agreement: tuple[AgreementRow, ...]
    """By kind of question; without those that nobody answered twice."""
    sources: tuple[SourceRow, ...]
    """Table 6."""
    errors: tuple[JudgeErrors, ...]
    """By axis, and of all."""
    statuses: tuple[tuple[str, tuple[int, ...]], ...]
    """Of sessions: the judge's status, and how often people decided each of STATUSES. Empty without sessions."""
    unit: str
    """Of the first audit."""
    truth: bool
    """Which of the two questions: what is so in truth, or what is right given what judges were shown."""


def summarize(campaigns: Sequence[AuditCampaign], *, truth: bool | None = None) -> AuditSummary:
    """``truth``: of which of the two questions; None: of the one that its packets ask first."""
    ids = [campaign.pk for campaign in campaigns]
    rows = asked_once(audited_questions(ids))
    questions = [row for row in rows if row.truth == truth or (truth is None and not row.is_second)]
    resolved = _resolved(questions)
    packet_states = Counter({row.packet: row.resolved for row in questions}.values())
    packets = packet_states.total()
    kinds = {row.kind for row in questions}
    second = any(row.is_second for row in questions)
    models = [row for row in model_auditors(campaigns) if row.second or not second]
    axes = {label: of for label, of in AXES.items() if label in (CHECKLIST, INTENTS) or "status" not in kinds}
    return AuditSummary(
        total=count_disagreements("All", resolved),
        weighted=weighted_rate(resolved),
        rows=tuple(
            count_disagreements(label, [decision for decision in resolved if decision.kind in kinds])
            for label, kinds in axes.items()
        ),
        not_shown=_share_of(NOT_SHOWN, questions),
        broken=_share_of(BROKEN, questions),
        after_looking=count_disagreements("After looking", _resolved(row for row in questions if row.looked)),
        packets=packets,
        undecided=packet_states[False],
        waiting=packet_states[None],
        agreement=agreement_by_kind(questions),
        sources=(
            _compare_source(PEOPLE, [row for row in questions if row.enough]),
            *(_compare_model(auditor, questions) for auditor in models),
        ),
        errors=(
            *(count_errors(label, resolved, of) for label, of in axes.items()),
            count_errors("All", resolved, kinds),
        ),
        statuses=_cross_statuses(resolved) if "status" in kinds else (),
        unit=campaigns[0].unit if campaigns else AuditCampaign.Unit.DECISION,
        truth=any(row.truth for row in questions),
    )


def _resolved(questions: Iterable[AuditedQuestion]) -> list[ResolvedDecision]:
    return [
        ResolvedDecision(row.kind, row.decided, row.judge, row.weight, row.cluster)
        for row in questions
        if row.decided is not None
    ]


def _share_of(answer: str, questions: Iterable[AuditedQuestion]) -> Rate:
    return clustered_wilson((row.cluster, row.final == answer) for row in questions if row.final is not None)


def _compare_source(source: str, questions: Sequence[AuditedQuestion]) -> SourceRow:
    decisions = by_majority(questions)
    return SourceRow(source, *count_axes(decisions), open=sum(row.majority is None for row in questions))


def by_majority(questions: Iterable[AuditedQuestion]) -> list[ResolvedDecision]:
    """As Table 6 has them: nothing adjudicated."""
    return [
        ResolvedDecision(row.kind, row.majority, row.judge, row.weight, row.cluster)
        for row in questions
        if row.majority is not None and row.majority not in VOID
    ]


def count_axes(decisions: Collection[ResolvedDecision]) -> tuple[DisagreementRow, DisagreementRow]:
    """Of the checklist, and of intents."""
    checklist, intents = (
        count_disagreements(label, [decision for decision in decisions if decision.kind in AXES[label]])
        for label in (CHECKLIST, INTENTS)
    )
    return checklist, intents


def _compare_model(auditor: ModelAuditor, questions: Iterable[AuditedQuestion]) -> SourceRow:
    """Over the questions that enough people answered, so that the rows of the table are about the same; over all before
    any is. What it left open counts as no majority."""
    drawn = [row for row in questions if row.campaign == auditor.campaign]
    same = [row for row in drawn if row.enough] or drawn
    answers = auditor.second if any(row.is_second for row in drawn) else auditor.answers
    given = [
        replace(row, majority=answers[row.source][row.key] or None)
        for row in same
        if row.key in answers.get(row.source, {})
    ]
    return replace(_compare_source(auditor.name, given), model=auditor)


def count_errors(label: str, resolved: Iterable[ResolvedDecision], kinds: Collection[str]) -> JudgeErrors:
    decisions = [decision for decision in resolved if decision.kind in kinds]
    confusion = count_confusion((credited(row.judge), credited(row.people)) for row in decisions)
    return JudgeErrors(
        label,
        confusion,
        false_yes=wilson(confusion.too_lenient, confusion.people_no),
        false_no=wilson(confusion.too_strict, confusion.people_yes),
        kappa=estimate([(row.cluster, row) for row in decisions], _judge_kappa)
        if len({row.kind for row in decisions}) == 1
        else None,
    )


def _judge_kappa(decisions: Sequence[ResolvedDecision]) -> float | None:
    return cohen_kappa([row.judge for row in decisions], [row.people for row in decisions])


def agreement_by_kind(questions: Iterable[AuditedQuestion]) -> tuple[AgreementRow, ...]:
    rows = list(questions)
    found = (_agreement(kind, [row for row in rows if row.kind == kind]) for kind in QUESTIONS)
    return tuple(row for row in found if row.questions)


def _agreement(kind: str, questions: Sequence[AuditedQuestion]) -> AgreementRow:
    answered = [(row.cluster, row.answers) for row in questions if row.answers]
    several = [(session, answers) for session, answers in answered if len(answers) > 1]
    possible = () if kind == "status" else DECISIVE
    return AgreementRow(
        QUESTIONS[kind],
        len(several),
        disagreement([answers for _, answers in several]),
        krippendorff_alpha=estimate(several, krippendorff_alpha),
        fleiss_kappa=estimate([(row.cluster, row.answers) for row in questions if row.enough], _even_kappa),
        gwet_ac1=estimate(answered, partial(gwet_ac1, labels=possible)),
    )


def _even_kappa(units: Sequence[Unit]) -> float | None:
    """Fleiss' κ, which knows only units that equally many people judged."""
    return fleiss_kappa(units) if len({len(unit) for unit in units}) == 1 else None


def _cross_statuses(resolved: Iterable[ResolvedDecision]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    counts = Counter((row.judge, row.people) for row in resolved if row.kind == "status")
    return tuple((judge, tuple(counts[judge, people] for people in STATUSES)) for judge in STATUSES)


def count_disagreements(label: str, resolved: Iterable[ResolvedDecision]) -> DisagreementRow:
    decisions = list(resolved)
    strict = sum(credited(row.people) and not credited(row.judge) for row in decisions)
    lenient = sum(credited(row.judge) and not credited(row.people) for row in decisions)
    rate = clustered_wilson((row.cluster or index, row.people != row.judge) for index, row in enumerate(decisions))
    return DisagreementRow(label, rate, strict, lenient)


def weighted_rate(resolved: Iterable[ResolvedDecision]) -> float | None:
    decisions = list(resolved)
    total = sum(decision.weight for decision in decisions)
    opposite = sum(decision.weight for decision in decisions if decision.people != decision.judge)
    return opposite / total if total else None


DIMENSIONS = {
    "persona": "Persona",
    "category": "Category",
    "grader": "Grader",
    "model": "Model",
    "judge": "Judge",
    "prompts": "Prompts",
    "protocol": "Protocol",
}


@dataclass(frozen=True)
class BreakdownRow:
    value: str
    checklist: DisagreementRow
    """By majority, as in Table 6; the intervals allow for decisions of one session being alike."""
    intents: DisagreementRow
    total: DisagreementRow
    agreement: tuple[AgreementRow, ...]
    errors: JudgeErrors
    """Of all, by majority."""


@dataclass(frozen=True)
class Breakdown:
    dimension: str
    label: str
    rows: tuple[BreakdownRow, ...]


def break_down(campaigns: Collection[AuditCampaign]) -> list[Breakdown]:
    """Without dimensions of which nothing is known, as in audits opened before they were recorded."""
    questions = [row for row in audited_questions([campaign.pk for campaign in campaigns]) if not row.is_second]
    found = [Breakdown(name, label, _rows(questions, name)) for name, label in DIMENSIONS.items()]
    return [breakdown for breakdown in found if breakdown.rows]


def _rows(questions: Iterable[AuditedQuestion], dimension: str) -> tuple[BreakdownRow, ...]:
    by_value: dict[str, list[AuditedQuestion]] = defaultdict(list)
    for row in questions:
        if value := _value(row, dimension):
            by_value[value].append(row)
    return tuple(_row(value, by_value[value]) for value in sorted(by_value))


def _value(row: AuditedQuestion, dimension: str) -> str:
    if dimension == "grader":
        return "rubric" if row.kind == "checklist" else "intents"
    if dimension == "prompts":
        return row.labels.get("prompts_checklist" if row.kind == "checklist" else "prompts_intents", "")
    return row.labels.get(dimension, "")


def _row(value: str, questions: Collection[AuditedQuestion]) -> BreakdownRow:
    decided = by_majority(questions)
    return BreakdownRow(
        value,
        *count_axes(decided),
        count_disagreements("All", decided),
        agreement=agreement_by_kind(questions),
        errors=count_errors("All", decided, {decision.kind for decision in decided}),
    )
