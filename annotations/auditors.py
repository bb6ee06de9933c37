"""How auditors judge: agreement with what was decided in the end, control items, pace. For themselves, and for those
who plan audits; only of audits whose results the reader may see.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from annotations.controls import ControlRates, control_rates_by_auditor
from annotations.decided import AuditedQuestion, audited_questions
from annotations.intervals import Rate, clustered_wilson
from annotations.models import Answer, AuditCampaign, Cause, Judgment
from annotations.packets import UNSURE, VOID
from annotations.seals import record_openings, results_open
from annotations.visibility import given_answers, newest_judgments, visible_campaigns
from studio.models import Benchmark, User

FEW = 30
"""Fewer answers say little of a person."""
NO_RATES = ControlRates(clustered_wilson([]), clustered_wilson([]))


@dataclass(frozen=True)
class AuditorRecord:
    auditor: User
    packets: int
    """Judged, in audits that are still going on too."""
    questions: int
    skips: int
    seconds: float | None
    """Median for a question; None without a timed answer."""
    agreement: Rate
    """Answers that are what was decided in the end, of questions that others answered too. Unsure is not in it."""
    unsure: Rate
    controls: ControlRates

    @property
    def an_hour(self) -> int | None:
        """Questions, at that pace."""
        return round(3600 / self.seconds) if self.seconds else None

    @property
    def is_thin(self) -> bool:
        return self.agreement.n < FEW


@dataclass(frozen=True)
class Oversight:
    """A question on which an adjudicator found that the person overlooked something."""

    campaign: AuditCampaign
    subject: str
    answer: str
    final: str
    reason: str


@dataclass
class _Tally:
    packets: int = 0
    questions: int = 0
    skips: int = 0
    paces: list[float] = field(default_factory=list)
    """Seconds for a question."""
    agreeing: list[tuple[str, bool]] = field(default_factory=list)
    """With the session."""
    unsure: list[tuple[str, bool]] = field(default_factory=list)


def own_record(user: User) -> AuditorRecord:
    campaigns = _judged_campaigns(user)
    found = _records(campaigns, results_open(campaigns, user), only=user)
    return found.get(user.pk) or _record(user, _Tally(), NO_RATES)


def records_in(benchmark: Benchmark, reader: User) -> list[AuditorRecord]:
    """Of everybody who judged in the benchmark, by name. What is sealed to the reader is left out altogether."""
    campaigns = list(AuditCampaign.objects.filter(benchmark=benchmark))
    shown = results_open(campaigns, reader)
    seen = [row for row in campaigns if row.pk in shown]
    record_openings(reader, seen, "auditors")
    found = _records(seen, shown)
    return sorted(found.values(), key=lambda row: str(row.auditor).casefold())


def oversights(user: User) -> list[Oversight]:
    """Newest first."""
    campaigns = _judged_campaigns(user)
    rows = (
        Answer.objects.filter(packet__campaign__in=results_open(campaigns, user), cause=Cause.AUDITOR_ERROR)
        .select_related("packet__campaign", "adjudication")
        .order_by("-adjudication_id", "pk")
    )
    given = given_answers({row.packet.campaign_id for row in rows})
    found = []
    for row in rows:
        own = given.get(row.packet_id, {}).get(user.pk, {}).get(row.question)
        if own is not None and own != row.value:
            assert row.adjudication is not None
            subject = next(each["subject"] for each in row.packet.content["questions"] if each["key"] == row.question)
            found.append(Oversight(row.packet.campaign, subject, own, row.value, row.adjudication.reason))
    return found


def _judged_campaigns(user: User) -> list[AuditCampaign]:
    judged = Judgment.objects.filter(auditor=user).values("packet__campaign")
    return list(visible_campaigns(user).filter(pk__in=judged))


def record_json(row: AuditorRecord) -> dict[str, Any]:
    return {
        "auditor": row.auditor.get_username(),
        "packets": row.packets,
        "questions": row.questions,
        "skips": row.skips,
        "seconds_per_question": row.seconds,
        "agreement": row.agreement.document(),
        "unsure": row.unsure.document(),
        **row.controls.document(),
    }


def _records(
    campaigns: Collection[AuditCampaign], shown: Collection[int], *, only: User | None = None
) -> Mapping[int, AuditorRecord]:
    """By key of the auditor. ``shown``: keys of the campaigns whose answers may be compared."""
    tallies: dict[int, _Tally] = defaultdict(_Tally)
    _count_work(tallies, campaigns, only)
    given = given_answers(shown)
    for question in audited_questions(shown):
        _compare(tallies, question, given.get(question.packet, {}))
    controls = control_rates_by_auditor([row for row in campaigns if row.pk in shown])
    people = User.objects.in_bulk([only.pk] if only else list(tallies))
    return {key: _record(person, tallies[key], controls.get(key, NO_RATES)) for key, person in people.items()}


def _count_work(tallies: dict[int, _Tally], campaigns: Collection[AuditCampaign], only: User | None) -> None:
    newest = Judgment.objects.filter(pk__in=newest_judgments([row.pk for row in campaigns]))
    if only:
        newest = newest.filter(auditor=only)
    counted = newest.annotate(questions=Count("answers")).order_by("packet_id", "auditor_id")
    for auditor, state, questions, milliseconds in counted.values_list("auditor", "state", "questions", "milliseconds"):
        tally = tallies[auditor]
        if state == Judgment.State.SKIPPED:
            tally.skips += 1
        elif state == Judgment.State.GIVEN:
            tally.packets += 1
            tally.questions += questions
            if milliseconds:
                tally.paces.append(milliseconds / 1000 / questions)


def _compare(tallies: dict[int, _Tally], question: AuditedQuestion, given: Mapping[int, Mapping[str, str]]) -> None:
    if len(given) < 2:
        return
    for auditor, answers in given.items():
        if (answer := answers.get(question.key)) is not None:
            tallies[auditor].unsure.append((question.cluster, answer == UNSURE))
            if question.decided is not None and answer not in {UNSURE, *VOID}:
                tallies[auditor].agreeing.append((question.cluster, answer == question.decided))


def _record(auditor: User, tally: _Tally, controls: ControlRates) -> AuditorRecord:
    return AuditorRecord(
        auditor=auditor,
        packets=tally.packets,
        questions=tally.questions,
        skips=tally.skips,
        seconds=round(statistics.median(tally.paces), 1) if tally.paces else None,
        agreement=clustered_wilson(tally.agreeing),
        unsure=clustered_wilson(tally.unsure),
        controls=controls,
    )
