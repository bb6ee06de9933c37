"""Recording, reading and undoing auditors' answers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotations.campaigns import record_event
from annotations.consensus import notify_adjudicators, update_consensus
from annotations.leases import is_locked, mark_judged, reopen_seat, return_seat
from annotations.models import Answer, AuditCampaign, Cause, Judgment, Packet
from annotations.packets import NOT_SHOWN, PacketContent, collapse_whitespace, find_passage
from annotations.seals import has_opened, record_openings, sealing
from annotations.visibility import is_auditor, newest_judgments, shares_of
from studio.domain.options import OptionsError
from studio.models import User
from studio.models.transactions import atomic_with_retry

MAX_COMMENT_LENGTH = 5_000
MAX_PASSAGES = 20
MAX_DRAFT_LENGTH = 20_000
MIN_TIMED_ANSWERS = 3


@dataclass(frozen=True)
class HandedIn:
    """What an auditor says of a packet."""

    answers: Mapping[str, str] | None
    """One for each question's key; None: skipped."""
    evidence: Sequence[str] = ()
    """Verbatim passages of what is shown, apart from white space."""
    comment: str = ""
    """A skip needs one."""
    confidence: int | None = None
    """From 1, low, to 3."""
    cause: str = ""
    """A ``Cause``, or empty."""
    milliseconds: int | None = None


def next_number(packet: Packet, auditor: User) -> int:
    """The number of an answer given now. The form carries it, so that sending it twice is harmless."""
    last = packet.judgments.filter(auditor=auditor).order_by("-number").values_list("number", flat=True).first()
    return (last or 0) + 1


@atomic_with_retry
def record_judgment(packet: Packet, given: HandedIn, *, auditor: User, number: int) -> Judgment:
    """Store what an auditor hands in, once even if it is sent twice. Raises OptionsError; then nothing is stored.

    The packet must be leased to them. A skip leaves it to somebody else. ``number`` is what ``next_number`` returned
    when the question was shown.
    """
    packet = Packet.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=packet.pk)
    earlier = {row.number: row for row in packet.judgments.filter(auditor=auditor)}
    newest = max(earlier, default=0)
    if number in earlier:
        if number == newest and _is_same(earlier[number], given):
            return earlier[number]
        raise OptionsError("", "You have already answered this one, perhaps in another window. Undo it to change it.")
    if packet.campaign.state != AuditCampaign.State.OPEN:
        raise OptionsError("", "This audit has been closed in the meantime; your answer was not saved.")
    if not is_auditor(auditor, packet.campaign):
        raise OptionsError("", "You are not assigned to this audit.")
    if has_opened(auditor, packet.campaign):
        raise OptionsError("", "You have seen the results of this audit, so you can no longer judge in it.")
    if number != newest + 1 or (newest and earlier[newest].state != Judgment.State.UNDONE):
        raise OptionsError("", "You have already answered this one, perhaps in another window. Undo it to change it.")
    if packet.adjudications.exists():
        raise OptionsError("", "This decision has been adjudicated in the meantime; your answer was not saved.")
    passages = _validate_passages(packet, given.evidence)
    if len(given.comment) > MAX_COMMENT_LENGTH:
        raise OptionsError("comment", f"Keep the comment under {MAX_COMMENT_LENGTH} characters.")
    if given.confidence not in (None, 1, 2, 3):
        raise OptionsError("confidence", "Say how sure you are with 1, 2 or 3, or not at all.")
    if given.cause not in ("", *Cause.values) or given.cause == Cause.AUDITOR_ERROR:
        raise OptionsError("cause", "Choose one of the causes, or none.")
    skips = given.answers is None
    answers = _validate_answers(packet, given.answers or {}) if not skips else {}
    if skips and not given.comment.strip():
        raise OptionsError("comment", "Say why you skip it, in one sentence.")
    held = return_seat(packet, auditor) if skips else mark_judged(packet, auditor)
    if not held:
        raise OptionsError("", "This decision is not yours to judge, or someone else is judging it now.")
    row = Judgment.objects.create(
        packet=packet,
        auditor=auditor,
        number=number,
        state=Judgment.State.SKIPPED if skips else Judgment.State.GIVEN,
        evidence=passages,
        comment=given.comment.strip(),
        confidence=given.confidence,
        cause=given.cause,
        milliseconds=given.milliseconds,
    )
    Answer.objects.bulk_create(
        Answer(packet=packet, question=key, by=Answer.By.PERSON, judgment=row, number=number, value=value)
        for key, value in answers.items()
    )
    consensus = update_consensus(packet)
    notify_adjudicators(packet, disagree=consensus is not None and not consensus.resolved)
    return row


def _is_same(row: Judgment, given: HandedIn) -> bool:
    state = Judgment.State.SKIPPED if given.answers is None else Judgment.State.GIVEN
    return (row.state, row.by_question) == (state, dict(given.answers or {}))


def _validate_answers(packet: Packet, answers: Mapping[str, str]) -> dict[str, str]:
    content = PacketContent.model_validate(packet.content)
    questions = content.questions
    missing = [row for row in questions if answers.get(row.key) not in row.choices]
    if missing and len(questions) == 1:
        raise OptionsError("answer", "Answer yes, no or unsure, or skip it.")
    if missing:
        what = "question is" if len(missing) == 1 else "questions are"
        message = f"{len(missing)} {what} still open. Answer each, with Unsure where you cannot tell."
        raise OptionsError(f"answers.{missing[0].key}", message)
    if content.shows_everything and NOT_SHOWN in answers.values():
        key = next(row.key for row in questions if answers[row.key] == NOT_SHOWN)
        message = "Nothing was cut or left out here: what is not shown did not happen, so that absence means No."
        raise OptionsError("answer" if len(questions) == 1 else f"answers.{key}", message)
    return {row.key: answers[row.key] for row in questions}


def _validate_passages(packet: Packet, evidence: Sequence[str]) -> list[str]:
    content = PacketContent.model_validate(packet.content)
    passages = list(dict.fromkeys(collapse_whitespace(passage) for passage in evidence if passage.strip()))
    if len(passages) > MAX_PASSAGES:
        raise OptionsError("evidence", f"Mark at most {MAX_PASSAGES} passages.")
    for passage in passages:
        if find_passage(content, passage) is None:
            excerpt = passage if len(passage) <= 80 else passage[:79] + "…"
            raise OptionsError("evidence", f"“{excerpt}” does not occur in what is shown. Mark it there, or remove it.")
    return passages


def current_judgments(packet: Packet) -> list[Judgment]:
    newest = newest_judgments([packet.campaign_id]).filter(packet=packet).prefetch_related("answers")
    given = [row for row in newest if row.state == Judgment.State.GIVEN]
    return sorted(given, key=lambda row: row.created_at)


def own_answers(campaign: AuditCampaign, user: User) -> list[Judgment]:
    """The person's own, newest first, that can be taken back."""
    newest = newest_judgments([campaign.pk]).filter(packet__adjudications=None, auditor=user.pk)
    rows = newest.select_related("packet").prefetch_related("answers")
    given = [row for row in rows if row.state != Judgment.State.UNDONE]
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


@atomic_with_retry
def undo_last(campaign: AuditCampaign, auditor: User) -> Packet:
    """Take back the auditor's last answer, so that the question is asked again. Raises OptionsError.

    An adjudicated answer stays, because the adjudicator relied on it.
    """
    current = _answers_to_take_back(campaign, auditor)
    if not current:
        raise OptionsError("", "You have no answer to undo.")
    return _take_back(max(current.values(), key=lambda row: (row.created_at, row.pk)), "Your last answer")


@atomic_with_retry
def take_back(packet: Packet, auditor: User) -> Packet:
    """As ``undo_last``, but the answer to this packet."""
    row = _answers_to_take_back(packet.campaign, auditor).get(packet.pk)
    if row is None:
        raise OptionsError("", "You have no answer here to take back.")
    return _take_back(row, "This answer")


def _answers_to_take_back(campaign: AuditCampaign, auditor: User) -> dict[int, Judgment]:
    """By packet. Raises OptionsError if the time for it is over."""
    if campaign.state != AuditCampaign.State.OPEN:
        raise OptionsError("", "This audit is closed; answers can no longer be changed.")
    if has_opened(auditor, campaign):
        raise OptionsError("", "You have seen the results of this audit, so your answers can no longer be changed.")
    newest = newest_judgments([campaign.pk]).filter(auditor=auditor)
    return {row.packet_id: row for row in newest if row.state != Judgment.State.UNDONE}


def _take_back(row: Judgment, what: str) -> Packet:
    auditor = row.auditor
    packet = (
        Packet.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=row.packet_id)
    )
    if packet.adjudications.exists():
        raise OptionsError("", f"{what} has been adjudicated and can no longer be undone.")
    if is_locked(packet, auditor):
        raise OptionsError("", f"{what} stays as it is: you have seen the whole session since.")
    if not reopen_seat(packet, auditor):
        raise OptionsError("", "Others judge the decision that you skipped, so the skip can no longer be undone.")
    if next_number(packet, auditor) == row.number + 1:  # otherwise another window has undone it
        Judgment.objects.create(packet=packet, auditor=auditor, number=row.number + 1, state=Judgment.State.UNDONE)
    update_consensus(packet)
    return packet


@atomic_with_retry
def open_results(campaign: AuditCampaign, auditor: User) -> None:
    """Let the auditor see the results and judge no further. Idempotent.

    Raises OptionsError while packets are left for them.
    """
    AuditCampaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if not sealing(auditor).filter(pk=campaign.pk).exists():
        return
    share = shares_of([campaign], auditor)[campaign.pk]
    if share.pending:
        raise OptionsError("", "Finish judging first; the results could influence you.")
    if share.returning:
        raise OptionsError("", "Others are still judging, and what they leave comes back to you. Look again later.")
    record_openings(auditor, [campaign], "results")
    summary = f"Finished judging the audit “{campaign.name}” and opened its results"
    record_event(campaign, "audit_results_read", summary, by=auditor)
