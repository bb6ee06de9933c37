"""What is hidden from a person who still judges a pilot's decisions blind: verdicts, and scores based on them."""

from __future__ import annotations

from annotations.visibility import pending_sources
from evaluation.audits.campaigns import source_of
from evaluation.models import Pilot, Session
from studio.access import AnyUser
from studio.models import User


def pending_verdicts(user: AnyUser, pilot: Pilot) -> set[int]:
    """Keys of the pilot's verdicts that the person judges blind."""
    if not isinstance(user, User):
        return set()
    names = pending_sources(user, source_of(pilot))
    return {int(name.removeprefix("verdict:")) for name in names if name.startswith("verdict:")}


def is_blinded(user: AnyUser, session: Session) -> bool:
    pending = pending_verdicts(user, session.run.pilot)
    return bool(pending) and session.verdicts.filter(pk__in=pending).exists()


def blinded_sessions(user: AnyUser, pilot: Pilot) -> set[int]:
    pending = pending_verdicts(user, pilot)
    if not pending:
        return set()
    rows = Session.objects.filter(run__pilot=pilot, verdicts__pk__in=pending)
    return set(rows.values_list("pk", flat=True).distinct())


def blinded_pilots(user: AnyUser) -> set[int]:
    """Keys of pilots with decisions that the person judges blind."""
    if not isinstance(user, User):
        return set()
    names = pending_sources(user)
    verdicts = [int(name.removeprefix("verdict:")) for name in names if name.startswith("verdict:")]
    if not verdicts:
        return set()
    return set(Session.objects.filter(verdicts__pk__in=verdicts).values_list("run__pilot", flat=True).distinct())
