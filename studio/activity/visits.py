"""Visits to Home, which decide what is new to a user."""

from __future__ import annotations

import datetime as dt

from studio.models import User, Visit

PAUSE = dt.timedelta(hours=1)
"""After this long away, opening Home starts a new visit."""


def start_visit(user: User, now: dt.datetime) -> dt.datetime | None:
    """Record that the user opened Home, and return when their previous visit ended; None on the first.

    The result stays the same for the whole visit, so new items stay new.
    """
    visit, _ = Visit.objects.get_or_create(user=user, defaults={"latest": now})
    if now <= visit.latest:
        return visit.before
    if now - visit.latest > PAUSE:
        visit.before = visit.latest
    visit.latest = now
    visit.save(update_fields=["before", "latest"])
    return visit.before
