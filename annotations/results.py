"""Audit results: how often people disagree with the judge (paper, Table 6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from annotations.agreement import (
    Confusion,
    cohen_kappa,
    count_confusion,
    disagreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)
from annotations.consensus import majority_answer
from annotations.intervals import Rate, wilson
from annotations.models import AuditCampaign, Consensus, Judgment, Packet
from annotations.visibility import answers_of

AXES = {
    "Comp · checklist": ("checklist",),
    "Proc · hidden intents": ("satisfaction", "follow_up"),
    "Intent satisfied": ("satisfaction",),
    "Intent asked for": ("follow_up",),
}
"""The two axes of Table 6 and the two stages of the second."""
PEOPLE = "People"
DECISIVE = (Judgment.Answer.YES.value, Judgment.Answer.NO.value)


@dataclass(frozen=True)
class ResolvedDecision:
    """A packet that people decided, beside the judge's decision."""

    kind: str
    people: bool
    judge: bool
    weight: float = 1.0
    """How many decisions of the pilot it represents."""


@dataclass(frozen=True)
class DisagreementRow:
    """Disagreement over one kind of decision."""

    label: str
    rate: Rate
    """The share of resolved decisions on which people decided the opposite."""
    too_strict: int
    """The judge said no, people said yes."""
    too_lenient: int
    """The judge said yes, people said no."""


@dataclass(frozen=True)
class SourceRow:
    """A row of Table 6: disagreement of a source with the judging that scores, by majority, nothing adjudicated."""

    source: str
    checklist: DisagreementRow
    intents: DisagreementRow
    open: int
    """Decisions that enough people judged without a majority for yes or no."""


@dataclass(frozen=True)
class JudgeErrors:
    """Which way the judge errs on one kind of decision, by what people decided in the end."""

    label: str
    confusion: Confusion
    false_yes: Rate
    """Of what people decided no: the judge said yes."""
    false_no: Rate
    """Of what people decided yes: the judge said no."""
    kappa: float | None
    """Cohen's, of the judge and people."""


@dataclass(frozen=True)
class AuditSummary:
    """The results of one or more audits. Only resolved decisions count."""

    total: DisagreementRow
    weighted: float | None
    """The rate with each decision weighted by those it represents, since a sample with one of every rare kind is not
    quite proportional."""
    rows: tuple[DisagreementRow, ...]
    packets: int
    undecided: int
    """Enough people judged, but they differ or are unsure."""
    waiting: int
    """Not enough people have judged yet."""
    between_auditors: float | None
    """The share of pairs of answers to the same packet that differ."""
    alpha: float | None
    """Krippendorff's α between auditors; unsure is an answer like the others."""
    pairs_from: int
    """How many packets several people judged."""
    kappa: float | None
    """Fleiss' κ over the packets that as many people judged as were asked to, if that number is the same for all."""
    ac1: float | None
    """Gwet's AC1 over all answers."""
    sources: tuple[SourceRow, ...]
    """Table 6."""
    errors: tuple[JudgeErrors, ...]
    """Of the checklist, of intents, of all."""


def summarize(campaigns: Sequence[AuditCampaign]) -> AuditSummary:
    ids = [campaign.pk for campaign in campaigns]
    consensus = list(
        Consensus.objects.filter(packet__campaign__in=ids).values_list(
            "packet__kind", "decision", "packet__sealed", "packet__sampling_weight"
        )
    )
    resolved = [
        ResolvedDecision(kind, decision, bool(sealed["decision"]), weight)
        for kind, decision, sealed, weight in consensus
        if decision is not None
    ]
    answers = answers_of(ids)
    units = [list(by.values()) for by in answers.values() if len(by) > 1]
    rows = list(Packet.objects.filter(campaign__in=ids).values_list("pk", "kind", "sealed", "campaign__overlap"))
    full = [list(answers[pk].values()) for pk, _, _, overlap in rows if len(answers.get(pk, ())) == overlap]
    judged = [
        (kind, bool(sealed["decision"]), majority_answer(answers[pk].values()))
        for pk, kind, sealed, overlap in rows
        if len(answers.get(pk, ())) >= overlap
    ]
    packets = len(rows)
    return AuditSummary(
        total=count_disagreements("All", resolved),
        weighted=weighted_rate(resolved),
        rows=tuple(
            count_disagreements(label, [decision for decision in resolved if decision.kind in kinds])
            for label, kinds in AXES.items()
        ),
        packets=packets,
        undecided=len(consensus) - len(resolved),
        waiting=packets - len(consensus),
        between_auditors=disagreement(units),
        alpha=krippendorff_alpha(units),
        pairs_from=len(units),
        kappa=fleiss_kappa(full) if len({len(unit) for unit in full}) == 1 else None,
        ac1=gwet_ac1([list(by.values()) for by in answers.values()], DECISIVE),
        sources=(_compare_source(PEOPLE, judged),),
        errors=(
            *(_count_errors(label, resolved, AXES[label]) for label in list(AXES)[:2]),
            _count_errors("All", resolved, {decision.kind for decision in resolved}),
        ),
    )


def _compare_source(source: str, judged: Sequence[tuple[str, bool, bool | None]]) -> SourceRow:
    """``judged``: kind, the judge's decision, the source's majority."""
    decisions = [ResolvedDecision(kind, majority, judge) for kind, judge, majority in judged if majority is not None]
    checklist, intents = (
        count_disagreements(label, [decision for decision in decisions if decision.kind in AXES[label]])
        for label in list(AXES)[:2]
    )
    return SourceRow(source, checklist, intents, open=len(judged) - len(decisions))


def _count_errors(label: str, resolved: Iterable[ResolvedDecision], kinds: Collection[str]) -> JudgeErrors:
    pairs = [(decision.judge, decision.people) for decision in resolved if decision.kind in kinds]
    confusion = count_confusion(pairs)
    return JudgeErrors(
        label,
        confusion,
        false_yes=wilson(confusion.too_lenient, confusion.people_no),
        false_no=wilson(confusion.too_strict, confusion.people_yes),
        kappa=cohen_kappa([judge for judge, _ in pairs], [people for _, people in pairs]),
    )


def count_disagreements(label: str, resolved: Iterable[ResolvedDecision]) -> DisagreementRow:
    decisions = list(resolved)
    strict = sum(decision.people and not decision.judge for decision in decisions)
    lenient = sum(decision.judge and not decision.people for decision in decisions)
    return DisagreementRow(label, wilson(strict + lenient, len(decisions)), strict, lenient)


def weighted_rate(resolved: Iterable[ResolvedDecision]) -> float | None:
    decisions = list(resolved)
    total = sum(decision.weight for decision in decisions)
    opposite = sum(decision.weight for decision in decisions if decision.people != decision.judge)
    return opposite / total if total else None
