"""The consensus of auditors on a packet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from django.urls import reverse

from annotations.models import Consensus, Judgment, Packet
from annotations.visibility import answers_of
from studio.models import Notification
from studio.notifications import notify

AS_BOOL = {Judgment.Answer.YES.value: True, Judgment.Answer.NO.value: False}


def majority_answer(answers: Collection[str]) -> bool | None:
    """What more than half of all answers say; None if no answer has that many, or if it is “unsure”."""
    for answer, count in Counter(answers).items():
        if 2 * count > len(answers):
            return AS_BOOL.get(answer)
    return None


def update_consensus(packet: Packet) -> Consensus | None:
    """Recompute the packet's row: the newest adjudication, else the majority once enough people judged.

    Without enough judgments there is no row, and the result is None. Call with the packet locked.
    """
    answers = answers_of([packet.campaign_id]).get(packet.pk, {})
    adjudication = packet.adjudications.order_by("-created_at", "-pk").first()
    if adjudication is None and len(answers) < packet.campaign.overlap:
        Consensus.objects.filter(packet=packet).delete()
        return None
    decision = majority_answer(answers.values()) if adjudication is None else adjudication.decision
    row, _ = Consensus.objects.update_or_create(
        packet=packet,
        defaults={"decision": decision, "judged_by": len(answers), "adjudicated": adjudication is not None},
    )
    return row


def notify_adjudicators(packet: Packet) -> None:
    """Notify those who plan audits and did not judge this packet: once until they read it, even if more packets
    wait by then."""
    campaign = packet.campaign
    address = reverse("annotations:adjudicate_next", args=[campaign.pk])
    people = notify.users_allowed(campaign.benchmark_id, "plan_audit")
    people -= set(answers_of([campaign.pk]).get(packet.pk, {}))
    unread = Notification.objects.filter(kind=notify.Kind.ADJUDICATION, address=address, read_at=None)
    people -= set(unread.values_list("user_id", flat=True))
    notify.notify(
        people,
        notify.Kind.ADJUDICATION,
        f"Auditors disagree in “{campaign.name}”. Someone who did not judge has to adjudicate.",
        benchmark=campaign.benchmark_id,
        address=address,
        by=None,
    )
