"""Since when things are news to somebody. A visit lasts as long as they come back to Home within a while."""

from __future__ import annotations

import datetime as dt

from studio.models import User, Visit

PAUSE = dt.timedelta(hours=1)
"""Away this long, and the next look at Home begins a new visit."""


def come_home(user: User, now: dt.datetime) -> dt.datetime | None:
    """Note that the person looks at Home; when their visit before this one ended, None if there was none.

    What is news stays news while they come and go, and until they have been away for a while.
    """
    visit, first = Visit.objects.get_or_create(user=user, defaults={"latest": now})
    if first or now <= visit.latest:
        return visit.before
    if now - visit.latest > PAUSE:
        visit.before = visit.latest
    visit.latest = now
    visit.save(update_fields=["before", "latest"])
    return visit.before
