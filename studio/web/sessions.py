"""Sessions in the database, as Django stores them; every request reads one."""

from __future__ import annotations

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from studio.models.statements import TIME, PreparedQuery

_CURRENT = PreparedQuery(
    lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now), *("a key", TIME)
)


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        rows: list[Session] = _CURRENT.objects(self.session_key, timezone.now())
        if rows:
            return rows[0]
        self._session_key = None
        return None
