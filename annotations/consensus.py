"""The consensus of auditors on a packet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from django.db import transaction
from django.urls import reverse

from annotations.models import Consensus, Packet
from annotations.packets import UNSURE
from annotations.seals import may_see_results
from annotations.visibility import control_answers, given_answers
from studio.models import Notification, User
from studio.notifications import notify


def majority(answers: Collection[str]) -> str | None:
    """What more than half of all answers say, be it that it cannot be judged; None if no answer has that many, or if it
    is “unsure”."""
    for answer, count in Counter(answers).items():
        if 2 * count > len(answers):
            return None if answer == UNSURE else answer
    return None


def decide_questions(given: Collection[Mapping[str, str]], adjudicated: Mapping[str, str]) -> dict[str, str | None]:
    """What was adjudicated, else the majority, by key of the question."""
    keys = dict.fromkeys(key for answers in given for key in answers)
    return {
        key: adjudicated.get(key) or majority([answers[key] for answers in given if key in answers]) for key in keys
    }


def adjudicated_answers(packet: Packet) -> dict[str, str]:
    """By the newest adjudication, by key of the question."""
    newest = packet.adjudications.order_by("-created_at", "-pk").first()
    return dict(newest.answers.values_list("question", "value")) if newest else {}


def update_consensus(packet: Packet) -> Consensus | None:
    """Recompute the packet's row: the newest adjudication, else the majority once enough people judged.

    Without enough judgments, and for control items, there is no row, and the result is None; but for control items the
    work is done all the same, so that the time it takes does not tell auditors which they are. Call with the packet
    locked.
    """
    answers_of = control_answers if packet.control else given_answers
    given = answers_of([packet.campaign_id]).get(packet.pk, {})
    adjudicated = adjudicated_answers(packet)
    if not adjudicated and len(given) < packet.campaign.overlap:
        Consensus.objects.filter(packet=packet).delete()
        return None
    resolved = None not in decide_questions(given.values(), adjudicated).values()
    with transaction.atomic():
        row, _ = Consensus.objects.update_or_create(packet=packet, defaults={"resolved": resolved})
        if packet.control:
            transaction.set_rollback(True)
    return None if packet.control else row


def notify_adjudicators(packet: Packet, *, disagree: bool) -> None:
    """Notify those who plan audits and did not judge this packet, unless it is sealed to them: once until they read it,
    even if more packets wait by then. Where auditors do not ``disagree`` the work is done all the same and undone, so
    that the time it takes does not tell the last of them what others answered."""
    campaign = packet.campaign
    address = reverse("annotations:adjudicate_next", args=[campaign.pk])
    people = notify.users_allowed(campaign.benchmark_id, "plan_audit")
    people -= set(given_answers([campaign.pk]).get(packet.pk, {}))
    unread = Notification.objects.filter(kind=notify.Kind.ADJUDICATION, address=address, read_at=None)
    told = set(unread.values_list("user_id", flat=True))
    people = {person.pk for person in User.objects.filter(pk__in=people) if may_see_results(person, campaign)}
    with transaction.atomic():
        notify.notify(
            people - told or people,
            notify.Kind.ADJUDICATION,
            f"Auditors disagree in “{campaign.name}”. Someone who did not judge has to adjudicate.",
            benchmark=campaign.benchmark_id,
            address=address,
            by=None,
        )
        if not disagree or people <= told:
            transaction.set_rollback(True)
