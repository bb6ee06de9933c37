"""What an audit found: how often people hold the opposite of the judge (paper, Table 6)."""

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
"""The two axes of Table 6, and the two stages of the second."""


@dataclass(frozen=True)
class ResolvedDecision:
    """A packet people have decided, beside what the judge said."""

    kind: str
    people: bool
    judge: bool
    weight: float = 1.0
    """Decisions of the pilot it stands for."""


@dataclass(frozen=True)
class DisagreementRow:
    """One kind of decision."""

    label: str
    rate: Rate
    """Of the settled decisions, those where people hold the opposite."""
    too_strict: int
    """The judge said no, people yes."""
    too_lenient: int
    """The judge said yes, people no."""


@dataclass(frozen=True)
class AuditSummary:
    """An audit, or several, in numbers. Only decisions that people have settled count."""

    total: DisagreementRow
    weighted: float | None
    """The rate over all decisions of the pilots, each settled one counting for those it stands for: a
    sample that takes one of every rare kind is not quite proportional."""
    lines: tuple[DisagreementRow, ...]
    packets: int
    undecided: int
    """Enough people judged, and they differ or are unsure."""
    waiting: int
    """Too few people have judged yet."""
    between_auditors: float | None
    """The share of pairs of answers to the same packet that differ."""
    alpha: float | None
    """Krippendorff's α between auditors, unsure being an answer of its own."""
    pairs_from: int
    """Packets that several people judged."""


def summarize(campaigns: Sequence[AuditCampaign]) -> AuditSummary:
    """Together, in a constant number of queries."""
    ids = [campaign.pk for campaign in campaigns]
    rows = list(
        Consensus.objects.filter(packet__campaign__in=ids).values_list(
            "packet__kind", "decision", "packet__sealed", "packet__sampling_weight"
        )
    )
    settled = [
        ResolvedDecision(kind, decision, bool(sealed["decision"]), weight)
        for kind, decision, sealed, weight in rows
        if decision is not None
    ]
    units = [list(answers.values()) for answers in answers_of(ids).values() if len(answers) > 1]
    packets = Packet.objects.filter(campaign__in=ids).count()
    return AuditSummary(
        total=count_disagreements("All", settled),
        weighted=weighted_rate(settled),
        lines=tuple(
            count_disagreements(label, [one for one in settled if one.kind in kinds]) for label, kinds in AXES.items()
        ),
        packets=packets,
        undecided=len(rows) - len(settled),
        waiting=packets - len(rows),
        between_auditors=disagreement(units),
        alpha=krippendorff_alpha(units),
        pairs_from=len(units),
    )


def count_disagreements(label: str, settled: Iterable[ResolvedDecision]) -> DisagreementRow:
    known = list(settled)
    strict = sum(one.people and not one.judge for one in known)
    lenient = sum(one.judge and not one.people for one in known)
    return DisagreementRow(label, wilson(strict + lenient, len(known)), strict, lenient)


def weighted_rate(settled: Iterable[ResolvedDecision]) -> float | None:
    known = list(settled)
    everything = sum(one.weight for one in known)
    return sum(one.weight for one in known if one.people != one.judge) / everything if everything else None
