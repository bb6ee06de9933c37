"""Audit results: how often people disagree with the judge (paper, Table 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotations.agreement import disagreement, krippendorff_alpha
from annotations.intervals import Rate, wilson
from annotations.models import AuditCampaign, Consensus, Packet
from annotations.visibility import answers_of

AXES = {
    "Comp · checklist": ("checklist",),
    "Proc · hidden intents": ("satisfaction", "follow_up"),
    "Intent satisfied": ("satisfaction",),
    "Intent asked for": ("follow_up",),
}
"""The two axes of Table 6 and the two stages of the second."""


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
    units = [list(answers.values()) for answers in answers_of(ids).values() if len(answers) > 1]
    packets = Packet.objects.filter(campaign__in=ids).count()
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
