"""One auditor, one decision after the other."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from annotations.consensus import update_consensus
from annotations.models import AuditCampaign, Judgment, Packet
from annotations.packets import PacketContent, collapse_whitespace, find_passage
from annotations.visibility import RESULTS_OPENED, has_opened_results, is_auditor, pending_packets
from studio.models import Event, User

ANSWERS = (Judgment.Answer.YES, Judgment.Answer.NO, Judgment.Answer.UNSURE)
MAX_COMMENT_LENGTH = 5_000
MAX_PASSAGES = 20


class JudgmentError(Exception):
    """The answer cannot be taken. ``field`` says which entry is wrong, if one is; the text says what to do."""

    def __init__(self, words: str, field: str = "") -> None:
        super().__init__(words)
        self.field = field


def next_packet(campaign: AuditCampaign, auditor: User) -> Packet | None:
    """What the auditor is asked next; None: nothing is left for them."""
    waiting = pending_packets(campaign, auditor)
    return Packet.objects.select_related("campaign").get(pk=waiting[0]) if waiting else None


def next_number(packet: Packet, auditor: User) -> int:
    """The number an answer given now would have; the form carries it, so that sending it twice does no harm."""
    last = packet.judgments.filter(auditor=auditor).order_by("-number").values_list("number", flat=True).first()
    return (last or 0) + 1


@transaction.atomic
def record_judgment(
    packet: Packet,
    *,
    auditor: User,
    answer: str,
    number: int,
    evidence: Sequence[str] = (),
    comment: str = "",
    milliseconds: int | None = None,
) -> Judgment:
    """Keep an auditor's answer. Sent twice, it is kept once. Raises JudgmentError; then nothing is kept.

    ``number`` is what ``next_number`` gave when the question was put. ``evidence`` are passages of what
    is shown, verbatim but for white space.
    """
    if answer not in ANSWERS:
        raise JudgmentError("Answer yes, no or unsure.", "answer")
    packet = Packet.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=packet.pk)
    given = {row.number: row for row in packet.judgments.filter(auditor=auditor)}
    last = max(given, default=0)
    if number in given:
        if number == last and given[number].answer == answer:
            return given[number]
        raise JudgmentError("You have already answered this one, perhaps in another window. Undo it to change it.")
    if packet.campaign.state != AuditCampaign.State.OPEN:
        raise JudgmentError("This audit has been closed in the meantime; your answer was not saved.")
    if not is_auditor(auditor, packet.campaign):
        raise JudgmentError("You are not assigned to this audit.")
    if has_opened_results(auditor, packet.campaign):
        raise JudgmentError("You have seen the results of this audit, so you can no longer judge in it.")
    if number != last + 1 or (last and given[last].answer != Judgment.Answer.UNDONE):
        raise JudgmentError("You have already answered this one, perhaps in another window. Undo it to change it.")
    if packet.adjudications.exists():
        raise JudgmentError("This decision has been adjudicated in the meantime; your answer was not saved.")
    passages = _validate_passages(packet, evidence)
    if len(comment) > MAX_COMMENT_LENGTH:
        raise JudgmentError(f"Keep the comment under {MAX_COMMENT_LENGTH} characters.", "comment")
    row = Judgment.objects.create(
        packet=packet,
        auditor=auditor,
        number=number,
        answer=answer,
        evidence=passages,
        comment=comment.strip(),
        milliseconds=milliseconds,
    )
    update_consensus(packet)
    return row


def _validate_passages(packet: Packet, evidence: Sequence[str]) -> list[str]:
    shown = PacketContent.model_validate(packet.shown)
    passages = list(dict.fromkeys(collapse_whitespace(passage) for passage in evidence if passage.strip()))
    if len(passages) > MAX_PASSAGES:
        raise JudgmentError(f"Mark at most {MAX_PASSAGES} passages.", "evidence")
    for passage in passages:
        if find_passage(shown, passage) is None:
            words = passage if len(passage) <= 80 else passage[:79] + "…"
            raise JudgmentError(f"“{words}” does not occur in what is shown. Mark it there, or remove it.", "evidence")
    return passages


@transaction.atomic
def undo_last(campaign: AuditCampaign, auditor: User) -> Packet:
    """Take the auditor's last answer back, so that it is asked again. Raises JudgmentError.

    What has been adjudicated stays: somebody relied on it.
    """
    if campaign.state != AuditCampaign.State.OPEN:
        raise JudgmentError("This audit is closed; answers can no longer be changed.")
    if has_opened_results(auditor, campaign):
        raise JudgmentError("You have seen the results of this audit, so your answers can no longer be changed.")
    last = (
        Judgment.objects.filter(packet__campaign=campaign, auditor=auditor)
        .order_by("packet_id", "-number")
        .distinct("packet_id")
    )
    standing = [row for row in last if row.answer != Judgment.Answer.UNDONE]
    if not standing:
        raise JudgmentError("You have no answer to undo.")
    newest = max(standing, key=lambda row: (row.created_at, row.pk))
    packet = Packet.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=newest.packet_id)
    if packet.adjudications.exists():
        raise JudgmentError("Your last answer has been adjudicated and can no longer be undone.")
    if next_number(packet, auditor) == newest.number + 1:  # else another window was quicker
        Judgment.objects.create(packet=packet, auditor=auditor, number=newest.number + 1, answer=Judgment.Answer.UNDONE)
    update_consensus(packet)
    return packet


@transaction.atomic
def open_results(campaign: AuditCampaign, auditor: User) -> None:
    """From now on the auditor sees what the judge and colleagues said, and judges no more here.

    Refused while something is left for them. Reading twice is reading once.
    """
    AuditCampaign.objects.select_for_update().get(pk=campaign.pk)
    if has_opened_results(auditor, campaign):
        return
    if pending_packets(campaign, auditor):
        raise JudgmentError("Finish judging first; the results could influence you.")
    Event.objects.create(
        benchmark_id=campaign.benchmark_id,
        actor=auditor,
        verb=RESULTS_OPENED,
        summary=f"Finished judging the audit “{campaign.name}” and opened its results",
        data={"campaign": campaign.pk},
    )
