"""What the audit pages list: open adjudications, disagreements with the judge, time left."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotations.adjudication import undecided_packets
from annotations.consensus import decide_questions
from annotations.decided import AuditedQuestion, audited_questions
from annotations.intervals import Rate
from annotations.models import AuditCampaign, Judgment, Packet
from annotations.results import AuditSummary, DisagreementRow
from annotations.visibility import ADJUDICATORS, given_answers
from studio.access import roles_in
from studio.models import User

KINDS = {
    "checklist": "Checklist",
    "satisfaction": "Intent satisfied",
    "follow_up": "Intent asked for",
    "status": "Intent",
    "session": "Session",
}
MIN_TIMED_ANSWERS = 3
ANSWERS = ("yes", "no", "unsure", "answered")


@dataclass(frozen=True)
class UndecidedPacket:
    """A packet whose auditors differ. Omits the judge's decision, which would sway the adjudicator."""

    packet: Packet
    kind: str
    subject: str
    counts: str
    """``2 yes, 1 no``, or how many of a session's questions are open."""
    may_adjudicate: bool
    """Whether the person looking may."""


@dataclass(frozen=True)
class JudgeDisagreement:
    """A packet on which people decided the opposite of the judge."""

    packet: Packet
    kind: str
    subject: str
    people: str
    judge: str
    reason: str
    """The judge's."""
    quote: str
    thoughts: str
    """The judge's; for adjudicators."""
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
    given = given_answers([campaign.pk])
    allowed = not roles_in(user, campaign.benchmark).isdisjoint(ADJUDICATORS)
    return [
        UndecidedPacket(
            packet,
            KINDS[packet.kind],
            packet.content["subject"],
            counts=_count_answers(list(given[packet.pk].values())),
            may_adjudicate=allowed and user.pk not in given[packet.pk],
        )
        for packet in campaign.packets.filter(pk__in=undecided_packets(campaign, given))
    ]


def _count_answers(given: Sequence[Mapping[str, str]]) -> str:
    decisions = decide_questions(given, {})
    if set(decisions) != {""}:
        return f"{sum(answer is None for answer in decisions.values())} of {len(decisions)} questions open"
    counts = Counter(answers[""] for answers in given)
    return ", ".join(f"{counts[answer]} {answer}" for answer in ("yes", "no", "unsure") if counts[answer])


def list_disagreements(campaign: AuditCampaign) -> list[JudgeDisagreement]:
    differing = [row for row in audited_questions([campaign.pk]) if row.final is not None and row.final != row.judge]
    packets = (
        Packet.objects.select_related("consensus")
        .prefetch_related("judgments", "adjudications")
        .in_bulk({row.packet for row in differing})
    )
    return [_disagreement(row, packets[row.packet]) for row in differing]


def _disagreement(row: AuditedQuestion, packet: Packet) -> JudgeDisagreement:
    subject, reason, quote = packet.content["subject"], packet.sealed.get("reason", ""), packet.sealed.get("quote", "")
    if row.key:
        subject = next(each["subject"] for each in packet.content["questions"] if each["key"] == row.key)
        reason = packet.sealed["reasons"].get(row.key, "")
        thoughts = packet.sealed.get("thoughts", {}).get(row.key, "")
    else:
        thoughts = packet.sealed.get("thoughts", "")
    return JudgeDisagreement(
        packet=packet,
        kind=KINDS[row.kind],
        subject=subject,
        people=row.final or "",
        judge=row.judge,
        reason=reason,
        quote=quote,
        thoughts=thoughts,
        adjudicated=packet.consensus.adjudicated and row.majority is None,
        comments=_comments(packet),
    )


def current_judgments(packet: Packet) -> list[Judgment]:
    newest = packet.judgments.order_by("auditor_id", "-number").distinct("auditor_id")
    given = [row for row in newest if row.answer not in (Judgment.Answer.UNDONE, Judgment.Answer.SKIPPED)]
    return sorted(given, key=lambda row: row.created_at)


def own_answers(campaign: AuditCampaign, user: User) -> list[Judgment]:
    """The person's own, newest first, that can be taken back."""
    newest = (
        Judgment.objects.filter(packet__campaign=campaign, packet__adjudications=None, auditor=user.pk)
        .select_related("packet")
        .order_by("packet_id", "-number")
        .distinct("packet_id")
    )
    given = [row for row in newest if row.answer != Judgment.Answer.UNDONE]
    return sorted(given, key=lambda row: (row.created_at, row.pk), reverse=True)


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
