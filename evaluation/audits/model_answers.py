"""What models answer in audits: judgings of purpose ``audit``, kept beside people's answers when they end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from django.db.models import QuerySet, Sum

from annotations.decided import model_answers
from annotations.models import Answer, AuditCampaign, Packet
from annotations.packets import DECISION, NO, YES, PacketContent
from annotations.sources import AUDIT, PILOT, SESSION, ModelAuditor, audit_name
from evaluation.audits.campaigns import audited_round
from evaluation.audits.sessions import judged_questions
from evaluation.grading.questions import AskedQuestion
from evaluation.judging.judged import load_judged
from evaluation.judging.judgings import asked_in, rules_of, scoring_choice
from evaluation.models import Judging, JudgingRound, ModelCall, Session, Verdict
from evaluation.models.judgings import Purpose
from evaluation.protocol.prompts import escape, escape_attribute
from studio.domain.task import TaskSpec

Answers = Mapping[str, Mapping[str, str]]
"""By source of the packet, by key of the question."""


def read_model_auditors(campaigns: Sequence[AuditCampaign]) -> list[ModelAuditor]:
    """One for each model of an audit: its rounds over the audit's pilots together."""
    names = {audit_name(campaign): campaign for campaign in campaigns}
    rows = JudgingRound.objects.filter(purpose=Purpose.AUDIT, source__in=names)
    by_model: dict[tuple[str, str], list[JudgingRound]] = defaultdict(list)
    for row in rows.select_related("pilot").order_by("pk"):
        by_model[row.source, str(row.judge.get("name", ""))].append(row)
    keys = [campaign.pk for campaign in campaigns] if by_model else []
    answered = [model_answers(keys, second=second) for second in (False, True)]
    return [
        _read(names[source], name, rounds, *(answers.get((names[source].pk, name), {}) for answers in answered))
        for (source, name), rounds in by_model.items()
    ]


def _read(
    campaign: AuditCampaign, name: str, rounds: Sequence[JudgingRound], answers: Answers, second: Answers
) -> ModelAuditor:
    judgings = Judging.objects.filter(round__in=rounds)
    stopped = list(judgings.filter(state=Judging.State.ERROR).select_related("round__pilot").order_by("pk"))
    spent = ModelCall.objects.filter(judging__in=judgings).aggregate(cost=Sum("cost"))["cost"] or Decimal(0)
    estimates = [row.estimate.get("cost", 0) for row in rounds]
    audited = [row for row in rounds if f"{PILOT}{row.pilot_id}" in campaign.source.split()]
    return ModelAuditor(
        campaign=campaign.pk,
        name=name,
        answers=answers,
        second=second,
        samples=rounds[0].samples,
        scripted=judgings.filter(scripted=True).exists(),
        waiting=judgings.exclude(state__in=[Judging.State.FINISHED, Judging.State.ERROR]).count(),
        stopped=len(stopped),
        where_stopped=_round_of(stopped[0]).pilot.get_absolute_url() if stopped else "",
        cost=str(spent),
        estimate=None if None in estimates else str(sum(Decimal(str(cost)) for cost in estimates)),
        judges_itself=any(
            row.judge.get("model") == audited_round(campaign, row.pilot).judge.get("model") for row in audited
        ),
    )


def keep_answers(judging: Judging) -> None:
    """Those to what a judging of an audit was asked, once every sample has decided it. Call in the transaction that
    ends the judging, with its round locked."""
    judging_round = _round_of(judging)
    Answer.sealed.bulk_create(
        (
            Answer(
                packet=packet,
                question=key,
                by=Answer.By.MODEL,
                model=str(judging_round.judge.get("name", "")),
                number=judging_round.pk,
                value=value,
            )
            for packet, key, value in _to_questions(judging, _packets(judging_round))
        ),
        ignore_conflicts=True,
    )


def record_of(judging_round: JudgingRound, question: AskedQuestion) -> str:
    """All that the packet shows people who are asked what is so in truth, escaped."""
    packet = _packets(judging_round).get(source=question.packet, truth=True)
    content = PacketContent.model_validate(packet.content)
    parts = (
        f'<{part.role} label="{escape_attribute(part.label)}">\n{escape(part.text)}\n</{part.role}>'
        for part in content.parts
    )
    return "\n".join((*parts, *map(escape, content.left_out)))


def _packets(judging_round: JudgingRound) -> QuerySet[Packet]:
    return Packet.objects.filter(campaign=int(judging_round.source.removeprefix(AUDIT)))


def _round_of(judging: Judging) -> JudgingRound:
    assert judging.round is not None
    return judging.round


def _to_questions(judging: Judging, packets: QuerySet[Packet]) -> Iterator[tuple[Packet, str, str]]:
    asked = asked_in(judging)
    by_source = {packet.source: packet for packet in packets.filter(truth=any(question.in_truth for question in asked))}
    same = Judging.objects.filter(round=judging.round, session=judging.session, scoring=judging.scoring)
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for question in asked:
        kind, turn, index = question.place
        rows = Verdict.objects.filter(judging__in=same, kind=kind, turn=turn, index=index)
        samples = list(rows.values_list("met", flat=True))
        if len(samples) == _round_of(judging).samples:
            found[question.packet, question.key or DECISION][kind] = _majority(samples)
    for (source, key), answers in found.items():
        yield by_source[source], key, _status(answers) if key.startswith("intent-") else next(iter(answers.values()))


def _status(answers: Mapping[str, str]) -> str:
    """Of an intent, from whether it was met and whether it was asked for, before the user said it."""
    met, asked = answers.get(Verdict.Kind.SATISFACTION, ""), answers.get(Verdict.Kind.FOLLOW_UP, "")
    if met != NO:
        return "completed" if met else ""
    return {YES: "inferred", NO: "provided"}.get(asked, "")


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


def _majority(samples: Sequence[bool | None]) -> str:
    yes = samples.count(True)
    return "" if 2 * yes == len(samples) else YES if 2 * yes > len(samples) else NO
