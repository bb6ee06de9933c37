"""What the audit pages list: open adjudications, disagreements with the judge, time left."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass

from annotations.adjudication import undecided_packets
from annotations.intervals import Rate
from annotations.models import AuditCampaign, Consensus, Judgment, Packet
from annotations.results import AuditSummary, DisagreementRow
from annotations.visibility import ADJUDICATORS, answers_of
from studio.access import roles_in
from studio.models import User

KINDS = {"checklist": "Checklist", "satisfaction": "Intent satisfied", "follow_up": "Intent asked for"}
MIN_TIMED_ANSWERS = 3
ANSWERS = ("yes", "no", "unsure")


@dataclass(frozen=True)
class UndecidedPacket:
    """A packet whose auditors differ. Omits the judge's decision, which would sway the adjudicator."""

    packet: Packet
    kind: str
    subject: str
    yes: int
    no: int
    unsure: int
    may_adjudicate: bool
    """Whether the person looking may."""


@dataclass(frozen=True)
class JudgeDisagreement:
    """A packet on which people decided the opposite of the judge."""

    packet: Packet
    kind: str
    subject: str
    people: bool
    judge: bool
    reason: str
    """The judge's."""
    quote: str
    adjudicated: bool
    comments: tuple[str, ...]


@dataclass(frozen=True)
class RateBar:
    """One row of the chart: positions in percent of its width, None where n is 0."""

    row: DisagreementRow
    low: float | None
    at: float | None
    high: float | None


@dataclass(frozen=True)
class RateChart:
    bars: tuple[RateBar, ...]
    end: int
    """The right end of the scale, in percent."""


def draw_chart(summary: AuditSummary) -> RateChart:
    rows = (*summary.rows, summary.total)
    highest = max((row.rate.high or 0.0 for row in rows), default=0.0)
    end = next(end for end in (5, 10, 20, 50, 100) if highest * 100 <= end or end == 100)

    def position(value: float | None) -> float | None:
        return None if value is None else round(value * 10_000 / end, 2)

    return RateChart(tuple(RateBar(row, *map(position, _ends(row.rate))) for row in rows), end)


def _ends(rate: Rate) -> tuple[float | None, float | None, float | None]:
    return rate.low, rate.value, rate.high


def list_undecided(campaign: AuditCampaign, user: User) -> list[UndecidedPacket]:
    answers = answers_of([campaign.pk])
    allowed = not roles_in(user, campaign.benchmark).isdisjoint(ADJUDICATORS)
    undecided = []
    for packet in campaign.packets.filter(pk__in=undecided_packets(campaign, answers)):
        given = answers[packet.pk]
        counts = Counter(given.values())
        undecided.append(
            UndecidedPacket(
                packet,
                KINDS[packet.kind],
                packet.content["subject"],
                yes=counts["yes"],
                no=counts["no"],
                unsure=counts["unsure"],
                may_adjudicate=allowed and user.pk not in given,
            )
        )
    return undecided


def list_disagreements(campaign: AuditCampaign) -> list[JudgeDisagreement]:
    rows = (
        Consensus.objects.filter(packet__campaign=campaign, decision__isnull=False)
        .select_related("packet")
        .prefetch_related("packet__judgments", "packet__adjudications")
        .order_by("packet__position")
    )
    return [
        JudgeDisagreement(
            packet=row.packet,
            kind=KINDS[row.packet.kind],
            subject=row.packet.content["subject"],
            people=bool(row.decision),
            judge=row.packet.sealed["decision"],
            reason=row.packet.sealed.get("reason", ""),
            quote=row.packet.sealed.get("quote", ""),
            adjudicated=row.adjudicated,
            comments=_comments(row.packet),
        )
        for row in rows
        if row.decision != row.packet.sealed["decision"]
    ]


def current_judgments(packet: Packet) -> list[Judgment]:
    newest = packet.judgments.order_by("auditor_id", "-number").distinct("auditor_id")
    given = [row for row in newest if row.answer not in (Judgment.Answer.UNDONE, Judgment.Answer.SKIPPED)]
    return sorted(given, key=lambda row: row.created_at)


def minutes_left(campaign: AuditCampaign, user: User, left: int) -> int | None:
    """An estimate from the person's own pace; None without enough timed answers."""
    newest = (
        Judgment.objects.filter(packet__campaign=campaign, auditor=user.pk)
        .order_by("-created_at")
        .values_list("milliseconds", flat=True)[:30]
    )
    times = [time for time in newest if time is not None]
    if len(times) < MIN_TIMED_ANSWERS or not left:
        return None
    return max(1, round(statistics.median(times) * left / 60_000))


def _comments(packet: Packet) -> tuple[str, ...]:
    adjudications = [row.reason for row in packet.adjudications.all()]
    newest = {row.auditor_id: row for row in sorted(packet.judgments.all(), key=lambda row: row.number)}
    return (*adjudications, *(row.comment for row in newest.values() if row.comment and row.answer in ANSWERS))
