"""Who judges which packet: a seat is leased to the person who opens the packet, and returns if they do not answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotations.models import AuditCampaign, Packet, Seat
from annotations.visibility import pending_packets
from studio.models import User
from studio.models.transactions import atomic_with_retry

LEASE = timedelta(minutes=30)
ATTEMPTS = 10
"""Others may take what was free a moment ago."""


@atomic_with_retry
def next_packet(campaign: AuditCampaign, auditor: User, *, after: int | None = None) -> Packet | None:
    """The packet the person holds, or a free one, leased to them from now; ``after`` is the key of one that they are
    judging. None: there is nothing for them now."""
    User.objects.select_for_update(no_key=True).get(pk=auditor.pk)  # their other windows wait
    for _ in range(ATTEMPTS):
        pending = pending_packets(campaign, auditor)
        for pk in pending:
            if pk == after:
                continue
            if renew_lease(pk, auditor) or take_seat(pk, auditor):
                return Packet.objects.select_related("campaign").get(pk=pk)
        if not set(pending) - {after}:
            break
    return None


def take_seat(packet: int, auditor: User) -> bool:
    """Lease a free seat of the packet, by key. Seats that others are taking at this moment are passed over."""
    seat = _free_seats(packet).select_for_update(no_key=True, skip_locked=True).order_by("number").first()
    if seat is None:
        return False
    seat.auditor, seat.judged, seat.leased_until, seat.draft = auditor, False, timezone.now() + LEASE, None
    seat.full_session = False
    seat.save(update_fields=["auditor", "judged", "leased_until", "draft", "full_session"])
    if Packet.objects.filter(pk=packet, first__isnull=False).exists():
        same = Seat.objects.filter(packet__campaign__packets=packet, packet__first=None, auditor=auditor)
        same.update(full_session=True)
    return True


def renew_lease(packet: int, auditor: User) -> bool:
    """Whether the person holds the packet, by key, and has not judged it; then the lease starts again.

    A lease that expired is theirs until somebody else takes the seat.
    """
    held = Seat.objects.filter(packet=packet, auditor=auditor, judged=False)
    return bool(held.update(leased_until=timezone.now() + LEASE))


def autosave(packet: int, auditor: User, draft: Mapping[str, object]) -> bool:
    """Whether the person holds the packet, by key; then what they entered is stored, and the lease starts again."""
    held = Seat.objects.filter(packet=packet, auditor=auditor, judged=False)
    return bool(held.update(draft=draft, leased_until=timezone.now() + LEASE))


def read_draft(packet: Packet, auditor: User) -> dict[str, object]:
    seat = Seat.objects.filter(packet=packet, auditor=auditor, judged=False).first()
    return (seat.draft or {}) if seat else {}


def has_begun(campaign: AuditCampaign, auditor: User) -> bool:
    """Whether the person holds, or has answered, one of its packets."""
    return Seat.objects.filter(packet__campaign=campaign, auditor=auditor).exists()


def mark_judged(packet: Packet, auditor: User) -> bool:
    """Whether the person held the packet. Call with the packet locked."""
    return bool(Seat.objects.filter(packet=packet, auditor=auditor, judged=False).update(judged=True))


def return_seat(packet: Packet, auditor: User) -> bool:
    """Whether the person held the packet; then somebody else may take the seat."""
    held = Seat.objects.filter(packet=packet, auditor=auditor, judged=False)
    return bool(held.update(auditor=None, leased_until=None, draft=None))


def reopen_seat(packet: Packet, auditor: User) -> bool:
    """Lease the packet again to a person who takes back an answer or a skip. False: others have all its seats."""
    own = Seat.objects.filter(packet=packet, auditor=auditor)
    return bool(own.update(judged=False, leased_until=timezone.now() + LEASE)) or take_seat(packet.pk, auditor)


def is_locked(packet: Packet, auditor: User) -> bool:
    """Whether the person has seen the whole session since, which is shown after the answer."""
    return Seat.objects.filter(packet=packet, auditor=auditor, full_session=True).exists()


def _free_seats(packet: int) -> QuerySet[Seat]:
    expired = Q(judged=False, leased_until__lt=timezone.now())
    return Seat.objects.filter(Q(auditor=None) | expired, packet=packet)
