"""What models answered in audits: judgings of purpose ``audit``, read as people's answers are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from django.db.models import Sum

from annotations.decided import NO, YES
from annotations.models import AuditCampaign
from annotations.sources import PILOT, SESSION, ModelAuditor, audit_name
from evaluation.audits.campaigns import audited_round
from evaluation.audits.sessions import judged_questions
from evaluation.grading.questions import AskedQuestion
from evaluation.judging.judged import load_judged
from evaluation.judging.judgings import asked_in, rules_of, scoring_choice
from evaluation.models import Judging, JudgingRound, ModelCall, Pilot, Session, Verdict
from evaluation.models.judgings import Purpose
from studio.domain.task import TaskSpec


def read_model_auditors(campaigns: Sequence[AuditCampaign]) -> list[ModelAuditor]:
    """One for each model of an audit: its rounds over the audit's pilots together."""
    names = {audit_name(campaign): campaign for campaign in campaigns}
    rows = JudgingRound.objects.filter(purpose=Purpose.AUDIT, source__in=names)
    by_model: dict[tuple[str, str], list[JudgingRound]] = defaultdict(list)
    for row in rows.select_related("pilot").order_by("pk"):
        by_model[row.source, str(row.judge.get("name", ""))].append(row)
    return [_read(names[source], name, rounds) for (source, name), rounds in by_model.items()]


def _read(campaign: AuditCampaign, name: str, rounds: Sequence[JudgingRound]) -> ModelAuditor:
    judgings = Judging.objects.filter(round__in=rounds)
    spent = ModelCall.objects.filter(judging__in=judgings).aggregate(cost=Sum("cost"))["cost"] or Decimal(0)
    estimates = [row.estimate.get("cost", 0) for row in rounds]
    audited = [row for row in rounds if f"{PILOT}{row.pilot_id}" in campaign.source.split()]
    return ModelAuditor(
        campaign=campaign.pk,
        name=name,
        answers=_answers(campaign, rounds),
        samples=rounds[0].samples,
        scripted=judgings.filter(scripted=True).exists(),
        waiting=judgings.exclude(state__in=[Judging.State.FINISHED, Judging.State.ERROR]).count(),
        stopped=judgings.filter(state=Judging.State.ERROR).count(),
        cost=str(spent),
        estimate=None if None in estimates else str(sum(Decimal(str(cost)) for cost in estimates)),
        judges_itself=any(
            row.judge.get("model") == _audited(campaign, row.pilot).judge.get("model") for row in audited
        ),
    )


def _answers(campaign: AuditCampaign, rounds: Sequence[JudgingRound]) -> dict[str, dict[str, str]]:
    if campaign.unit != AuditCampaign.Unit.SESSION:
        return {packet: answers for row in rounds for packet, answers in _answers_to_packets(row).items()}
    sessions = {source: answers for row in rounds for source, answers in answers_of_round(row).items()}
    planted = [(packet, answers) for row in rounds for packet, answers in _answers_to_packets(row).items()]
    packets = campaign.packets.filter(kind="session").values_list("source", "origin")
    given = {source: dict(sessions[origin or source]) for source, origin in packets if (origin or source) in sessions}
    for packet, answers in planted:
        if packet in given:
            given[packet] |= answers
    return given


def _audited(campaign: AuditCampaign, pilot: Pilot) -> JudgingRound:
    return audited_round(campaign, pilot) or scoring_choice(pilot).round


def answers_of_round(judging_round: JudgingRound) -> dict[str, dict[str, str]]:
    """By source of the session, by key of the question: of sessions that are judged in full."""
    judgings = Judging.objects.filter(round=judging_round, asked__isnull=True)
    unfinished = judgings.exclude(state=Judging.State.FINISHED)
    rows = Session.objects.filter(pk__in=judgings.values("session")).exclude(pk__in=unfinished.values("session"))
    sessions = list(rows.select_related("revision"))
    judged = load_judged(judging_round, sessions, corrected=False)
    rules = rules_of(scoring_choice(judging_round.pilot))
    return {
        f"{SESSION}{session.pk}": {
            row.question.key: row.answer
            for row in judged_questions(
                TaskSpec.model_validate(session.revision.spec), session.state, judged[session.pk], rules
            )
        }
        for session in sessions
    }


def _answers_to_packets(judging_round: JudgingRound) -> dict[str, dict[str, str]]:
    """Of questions asked alone, by source of the packet, by key: those that every sample has decided. A single decision
    has the empty key, a question planted in a session its own."""
    asked: dict[tuple[int, str, str, int, int], list[AskedQuestion]] = defaultdict(list)
    judgings = Judging.objects.filter(round=judging_round, asked__isnull=False).order_by("session_id", "scoring")
    for judging in judgings.distinct("session_id", "scoring"):  # every sample is asked the same
        for row in asked_in(judging):
            asked[judging.session_id or 0, judging.scoring, *row.place].append(row)
    columns = ("judging__session", "judging__scoring", "kind", "turn", "index", "met")
    given: dict[tuple[int, str, str, int, int], list[bool]] = defaultdict(list)
    for *place, met in Verdict.objects.filter(judging__round=judging_round).order_by().values_list(*columns):
        given[*place].append(met)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for place, questions in asked.items():
        if len(given[place]) == judging_round.samples:
            for question in questions:
                key = question.planted_key if question.packet.startswith(SESSION) else ""
                found[question.packet] |= _majority(key, given[place])
    return found


def _majority(key: str, samples: Sequence[bool]) -> dict[str, str]:
    yes = sum(samples)
    return {} if 2 * yes == len(samples) else {key: YES if 2 * yes > len(samples) else NO}
