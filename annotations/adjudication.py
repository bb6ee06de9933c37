"""Adjudication: someone else decides where auditors have no majority."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotations.consensus import decide_questions, update_consensus
from annotations.feedback import FOR_AUTHORS, Feedback, FeedbackError, send
from annotations.models import Adjudication, Answer, AuditCampaign, Cause, Consensus, Packet
from annotations.packets import PacketContent
from annotations.seals import results_open
from annotations.visibility import ADJUDICATORS, Given, given_answers, may_adjudicate
from studio.domain.options import OptionsError
from studio.models import Membership, User
from studio.models.transactions import atomic_with_retry

STILL_SEALED = "You are asked in this audit yourself. Open its results first; your answers are final then."
FIRST_FIRST = "Decide first what the judge should have said of this session, given what it was shown."


def _undecided(user: User) -> QuerySet[Consensus, Any]:
    allowed = Membership.objects.filter(user=user, role__in=sorted(ADJUDICATORS)).values("benchmark")
    return (
        Consensus.objects.filter(resolved=False, packet__campaign__benchmark__in=allowed)
        .exclude(packet__judgments__auditor=user)
        .exclude(_has_open_firsts("packet__"), packet__first__isnull=False)
        .order_by("packet__campaign", "packet__position")
        .values_list("packet__campaign", "packet__position")
    )


def _has_open_firsts(packet: str = "") -> Exists:
    """Whether a question on what judges were shown of the packet's session has no answer in the end. ``packet``: how
    the rows come to it."""
    session = {name: OuterRef(f"{packet}{name}") for name in ("campaign", "cluster")}
    return Exists(Packet.objects.filter(**session, first=None, control="").exclude(consensus__resolved=True))


def waits_for_first(packet: Packet) -> bool:
    return bool(waiting_for_first(Packet.objects.filter(pk=packet.pk)))


def waiting_for_first(packets: QuerySet[Packet]) -> set[int]:
    """Keys of those about whose session something is still to be decided from what judges were shown: who adjudicates
    them sees the whole session."""
    return set(packets.filter(_has_open_firsts(), first__isnull=False).values_list("pk", flat=True))


def adjudicable_packets(user: User, *, only: int | None = None) -> dict[AuditCampaign, list[int]]:
    """Positions of undecided packets that the user may adjudicate now, by campaign, in a constant number of queries.
    Nothing of a campaign that is sealed to the user. ``only``: the key of a campaign."""
    positions: dict[int, list[int]] = {}
    for campaign, position in _undecided(user):
        if only in (None, campaign):
            positions.setdefault(campaign, []).append(position)
    if not positions:
        return {}
    rows = list(AuditCampaign.objects.filter(pk__in=positions).select_related("benchmark").order_by("created_at"))
    shown = results_open(rows, user)
    return {row: positions[row.pk] for row in rows if row.pk in shown}


def undecided_packets(campaign: AuditCampaign, given: Given | None = None) -> list[int]:
    given = given_answers([campaign.pk]) if given is None else given
    rows = (
        campaign.packets.filter(adjudications__isnull=True, control="")
        .order_by("position")
        .values_list("pk", flat=True)
    )
    return [
        pk
        for pk in rows
        if len(answers := given.get(pk, {})) >= campaign.overlap
        and None in decide_questions(answers.values(), {}).values()
    ]


def open_questions(packet: Packet) -> dict[str, list[str]]:
    """The questions without a majority, by key, with what auditors answered."""
    if packet.control:
        return {}
    given = list(given_answers([packet.campaign_id]).get(packet.pk, {}).values())
    undecided = [key for key, answer in decide_questions(given, {}).items() if answer is None]
    return {key: [answers[key] for answers in given if key in answers] for key in undecided}


@atomic_with_retry
def adjudicate(
    packet: Packet,
    *,
    by: User,
    answers: Mapping[str, str],
    reason: str,
    cause: str = "",
    about: Collection[str] = (),
    request_changes: bool = False,
) -> Adjudication:
    """Record the final answers to a packet's questions without a majority, by key; the newest count. Raises
    OptionsError.

    ``cause``: a ``Cause``; one that the task's author can fix becomes a comment on the item or intent and, with
    ``request_changes``, the task goes back to its author. ``about``: the keys of the questions that the cause is
    about; all of those without a majority by default.
    """
    packet = Packet.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=packet.pk)
    given = given_answers([packet.campaign_id]).get(packet.pk, {})
    if not may_adjudicate(by, packet):
        raise OptionsError("", "Someone who has not judged this decision must adjudicate it.")
    if len(given) < packet.campaign.overlap:
        raise OptionsError("", "Not everyone assigned has judged this decision yet.")
    undecided = open_questions(packet)
    if not undecided:
        raise OptionsError("", "Most auditors agree on this decision; there is nothing to adjudicate.")
    if waits_for_first(packet):
        raise OptionsError("", FIRST_FIRST)
    content = PacketContent.model_validate(packet.content)
    questions = content.questions
    for question in questions:
        if question.key in undecided and answers.get(question.key) not in content.offered(question.final):
            if len(questions) == 1:
                raise OptionsError("decision", "Decide yes or no.")
            message = "Decide every question on which the auditors differ."
            raise OptionsError(f"answers.{question.key}", message)
    if not reason.strip():
        raise OptionsError("reason", "Give your reason in one sentence; the auditors will see it.")
    if cause not in ("", *Cause.values):
        raise OptionsError("cause", "Choose one of the causes, or none.")
    if request_changes and cause not in FOR_AUTHORS:
        raise OptionsError("cause", "Say first what the author can fix: the criterion, or what the record shows.")
    if set(about) - set(undecided):
        raise OptionsError("about", "The cause can only be about questions on which the auditors differ.")
    keys = [key for key in undecided if key in about] if about else list(undecided)
    number = packet.adjudications.count() + 1
    row = Adjudication.objects.create(packet=packet, by=by, reason=reason.strip())
    Answer.objects.bulk_create(
        Answer(
            packet=packet,
            question=key,
            by=Answer.By.ADJUDICATOR,
            adjudication=row,
            number=number,
            value=answers[key],
            cause=cause if key in keys else "",
        )
        for key in undecided
    )
    update_consensus(packet)
    if cause in FOR_AUTHORS:
        try:
            send(Feedback(packet.source, keys, cause, reason.strip(), by, request_changes))
        except FeedbackError as error:
            raise OptionsError("cause", str(error)) from error
    return row
