"""What the audit pages list: open adjudications, disagreements with the judge, time left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.adjudication import undecided_packets, waiting_for_first
from annotations.consensus import decide_questions
from annotations.controls import control_rates, control_rates_of_models
from annotations.decided import AuditedQuestion, audited_questions
from annotations.intervals import Rate
from annotations.models import AuditCampaign, Judgment, Packet
from annotations.packets import DECISION, STATUSES, VOID, Sealed
from annotations.results import QUESTIONS, AuditSummary, DisagreementRow, break_down, summarize
from annotations.scores import corrected_scores
from annotations.visibility import ADJUDICATORS, given_answers
from studio.access import roles_in
from studio.models import User

KINDS = {**QUESTIONS, "status": "Intent", "session": "Session"}
"""Of packets and their questions; a status is told beside its intent."""


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
    waits: bool
    """Whether something about its session is to be decided first, given what judges were shown."""


@dataclass(frozen=True)
class ListedQuestion:
    """On which people decided the opposite of the judge, or which they could not judge."""

    asked: AuditedQuestion
    packet: Packet
    kind: str
    """In words."""
    reason: str
    """The judge's, like the next two."""
    quote: str
    thoughts: str
    """For adjudicators."""
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


def report_context(row: AuditCampaign) -> dict[str, Any]:
    summary = summarize([row])
    second = summarize([row], truth=True)
    return {
        "campaign": row,
        "summary": summary,
        "second": second if second.packets and not summary.truth else None,
        "answered": bool(given_answers([row.pk])) or len(summary.sources) > 1,
        "statuses": STATUSES,
        "status_rows": [(judge, list(zip(STATUSES, counts, strict=True))) for judge, counts in summary.statuses],
        "scores": corrected_scores(row),
        "breakdowns": [each for each in break_down([row]) if len(each.rows) > 1 or each.dimension == "grader"],
        "controls": control_rates([row]),
        "model_controls": control_rates_of_models(row, [each.model for each in summary.sources if each.model]),
    }


def list_undecided(campaign: AuditCampaign, user: User) -> list[UndecidedPacket]:
    given = given_answers([campaign.pk])
    allowed = not roles_in(user, campaign.benchmark).isdisjoint(ADJUDICATORS)
    waiting = waiting_for_first(campaign.packets.all())
    return [
        UndecidedPacket(
            packet,
            KINDS[packet.kind],
            packet.content["subject"],
            counts=_count_answers(list(given[packet.pk].values())),
            may_adjudicate=allowed and user.pk not in given[packet.pk],
            waits=packet.pk in waiting,
        )
        for packet in campaign.packets.filter(pk__in=undecided_packets(campaign, given))
    ]


def _count_answers(given: Sequence[Mapping[str, str]]) -> str:
    decisions = decide_questions(given, {})
    if set(decisions) != {DECISION}:
        return f"{sum(answer is None for answer in decisions.values())} of {len(decisions)} questions open"
    counts = Counter(answers[DECISION] for answers in given)
    return ", ".join(f"{count} {answer.replace('_', ' ')}" for answer, count in sorted(counts.items(), reverse=True))


def list_disagreements(campaign: AuditCampaign) -> list[ListedQuestion]:
    """Without what is found in truth of a decision that is to be adjudicated: it would tell what the judge said."""
    rows = list(audited_questions([campaign.pk]))
    undecided = {row.source for row in rows if not row.is_second and row.final is None}
    found = [row for row in rows if not (row.is_second and row.source in undecided)]
    return _listed([row for row in found if row.decided not in (None, row.judge)])


def list_void(campaign: AuditCampaign) -> list[ListedQuestion]:
    """What people could not judge, for want of evidence or because something broke."""
    return _listed([row for row in audited_questions([campaign.pk]) if row.final in VOID])


def _listed(rows: list[AuditedQuestion]) -> list[ListedQuestion]:
    packets = Packet.objects.prefetch_related("judgments", "adjudications").in_bulk({row.packet for row in rows})
    return [_list_question(row, packets[row.packet]) for row in rows]


def _list_question(row: AuditedQuestion, packet: Packet) -> ListedQuestion:
    sealed = Sealed.model_validate(packet.sealed)
    return ListedQuestion(
        row,
        packet,
        KINDS[row.kind],
        reason=sealed.reasons.get(row.key, ""),
        quote=sealed.quotes.get(row.key, ""),
        thoughts=sealed.thoughts.get(row.key, ""),
        comments=_comments(packet),
    )


def _comments(packet: Packet) -> tuple[str, ...]:
    adjudications = [row.reason for row in packet.adjudications.all()]
    newest = {row.auditor_id: row for row in sorted(packet.judgments.all(), key=lambda row: row.number)}
    given = [row for row in newest.values() if row.state == Judgment.State.GIVEN]
    return (*adjudications, *(row.comment for row in given if row.comment))
