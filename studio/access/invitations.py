"""Invitations: a link that lets one person in, once, until it expires or is revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from studio.access import may, roles_in, set_roles
from studio.models import Benchmark, Event, Invitation, Role, User
from studio.models.transactions import atomic_with_retry

DAYS = (1, 7, 30)
"""How long an invitation may be valid."""


class InvitationError(Exception):
    """The message says why, and what to do."""


def sends_mail() -> bool:
    """Whether mail leaves this machine; printed mail reaches nobody."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))


@transaction.atomic
def invite(
    *,
    by: User,
    link: Callable[[str], str],
    benchmark: Benchmark | None = None,
    role: str = "",
    email: str = "",
    days: int = 7,
) -> tuple[Invitation, str]:
    """The invitation and its link; an empty link if it was mailed, so that only the mailbox has it.

    ``link`` makes the address of a secret. Raises InvitationError if the mail cannot be sent.
    """
    secret = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        digest=_digest(secret),
        benchmark=benchmark,
        role=role,
        email=email,
        mailed=bool(email) and sends_mail(),
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    if benchmark is not None:
        Event.objects.create(
            benchmark=benchmark,
            actor=by,
            verb="invited",
            summary=f"Invited {email or 'somebody by a link'} as {str(Role(role).label).lower()}.",
        )
    address = link(secret)
    if not invitation.mailed:
        return invitation, address
    try:
        send_mail(f"π-Bench Studio: {by} invites you", _letter(invitation, address), None, [email])
    except OSError as problem:  # smtplib's errors are subclasses
        raise InvitationError(
            f"The email to {email} could not be sent ({problem}). Leave the address out to get a link instead."
        ) from problem
    return invitation, ""


def _letter(invitation: Invitation, address: str) -> str:
    place = f"the benchmark “{invitation.benchmark}” in π-Bench Studio" if invitation.benchmark else "π-Bench Studio"
    role = f" as {str(Role(invitation.role).label).lower()}" if invitation.role else ""
    return (
        f"Hello,\n\n{invitation.created_by} invites you to {place}{role}. Open this link to join:\n\n{address}\n\n"
        f"It works once, until {invitation.expires_at:%d %B %Y, %H:%M} UTC. If you do not know {invitation.created_by},"
        " ignore this message.\n"
    )


def find_invitation(secret: str) -> Invitation | None:
    """Whatever its state: ``why_unusable`` tells."""
    rows = Invitation.objects.select_related("benchmark", "created_by")
    return rows.filter(digest=_digest(secret)).first()


def why_unusable(invitation: Invitation) -> str:
    """Empty if it can still be accepted."""
    inviter, benchmark = invitation.created_by, invitation.benchmark
    if invitation.used_at:
        return f"This invitation has been used. Ask {inviter} for another one."
    if invitation.revoked_at:
        return f"This invitation was withdrawn. Ask {inviter} for another one."
    if invitation.expires_at < timezone.now():
        return f"This invitation has expired. Ask {inviter} for another one."
    if not inviter.is_active or not (may(inviter, benchmark, "manage") if benchmark else inviter.is_staff):
        return "Whoever sent this invitation can no longer invite. Ask an owner of the benchmark for another one."
    return ""


@atomic_with_retry
def accept(invitation: Invitation, user: User) -> None:
    """Raises InvitationError, also for the second of two people who accept at once."""
    row = (
        Invitation.objects.select_for_update(no_key=True, of=("self",))
        .select_related("benchmark", "created_by")
        .get(pk=invitation.pk)
    )
    if why := why_unusable(row):
        raise InvitationError(why)
    row.used_by, row.used_at = user, timezone.now()
    row.save(update_fields=["used_by", "used_at"])
    if row.benchmark is not None:
        set_roles(row.benchmark, user, roles_in(user, row.benchmark) | {row.role}, by=row.created_by)


def revoke(invitation: Invitation, *, by: User) -> None:
    """Used and revoked ones stay as they are."""
    changed = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if changed and invitation.benchmark is not None:
        Event.objects.create(
            benchmark=invitation.benchmark,
            actor=by,
            verb="invitation_revoked",
            summary=f"Withdrew the invitation of {invitation.email or 'somebody by a link'}.",
        )


def open_invitations(benchmark: Benchmark | None) -> QuerySet[Invitation]:
    rows = Invitation.objects.filter(benchmark=benchmark, used_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return rows.select_related("created_by")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
