"""What people hold of a packet."""

from __future__ import annotations

from collections.abc import Collection

from annotations.models import Consensus, Judgment, Packet
from annotations.visibility import answers_of

AS_BOOL = {Judgment.Answer.YES.value: True, Judgment.Answer.NO.value: False}


def unanimous_answer(answers: Collection[str]) -> bool | None:
    """What all say; None where they differ, or anyone is unsure."""
    said = {AS_BOOL.get(answer) for answer in answers}
    return said.pop() if len(said) == 1 else None


def update_consensus(packet: Packet) -> Consensus | None:
    """Make the packet's row anew: the newest adjudication, else what all say once enough have judged.

    None, and no row, while too few have judged. Call with the packet locked.
    """
    answers = answers_of([packet.campaign_id]).get(packet.pk, {})
    last_word = packet.adjudications.order_by("-created_at", "-pk").first()
    if last_word is None and len(answers) < packet.campaign.overlap:
        Consensus.objects.filter(packet=packet).delete()
        return None
    decision = unanimous_answer(answers.values()) if last_word is None else last_word.decision
    row, _ = Consensus.objects.update_or_create(
        packet=packet,
        defaults={"decision": decision, "judged_by": len(answers), "adjudicated": last_word is not None},
    )
    return row
