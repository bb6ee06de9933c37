"""What is kept from a person who still judges decisions of a pilot: what the judges held, and scores made of it."""

from __future__ import annotations

from annotations.visibility import pending_sources
from evaluation.audits.campaigns import source_of
from evaluation.models import Pilot, Session
from studio.access import Somebody
from studio.models import User


def pending_in(user: Somebody, pilot: Pilot) -> set[int]:
    """Verdicts of the pilot that the person is still asked to judge, by their keys."""
    if not isinstance(user, User):
        return set()
    names = pending_sources(user, source_of(pilot))
    return {int(name.removeprefix("verdict:")) for name in names if name.startswith("verdict:")}


def is_blind(user: Somebody, session: Session) -> bool:
    """Whether the person must not see this session's verdicts yet."""
    pending = pending_in(user, session.run.pilot)
    return bool(pending) and session.verdicts.filter(pk__in=pending).exists()


def blind_sessions(user: Somebody, pilot: Pilot) -> set[int]:
    pending = pending_in(user, pilot)
    if not pending:
        return set()
    rows = Session.objects.filter(run__pilot=pilot, verdicts__pk__in=pending)
    return set(rows.values_list("pk", flat=True).distinct())


def blind_pilots(user: Somebody) -> set[int]:
    """Pilots some of whose decisions the person judges blind, by their keys."""
    if not isinstance(user, User):
        return set()
    names = pending_sources(user)
    verdicts = [int(name.removeprefix("verdict:")) for name in names if name.startswith("verdict:")]
    if not verdicts:
        return set()
    return set(Session.objects.filter(verdicts__pk__in=verdicts).values_list("run__pilot", flat=True).distinct())
