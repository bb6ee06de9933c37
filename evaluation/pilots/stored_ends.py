"""What is stored of a session once its conversation is over, or all work on it, each in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection, models
from django.utils import timezone

from evaluation.leases.sessions import LeaseLostError
from evaluation.models import Judging, Session
from studio.models.statements import binding_cursor


def store_end(session: Session, judgings: Sequence[Judging], **changes: Any) -> None:
    """Store ``changes`` of the session's row and finish its ``judgings``. Raises LeaseLostError; then nothing is
    stored."""
    columns = ((name, value.pk if isinstance(value, models.Model) else value) for name, value in changes.items())
    values = [_field(name).get_db_prep_save(value, connection) for name, value in columns]
    keys = [judging.pk for judging in judgings]
    with binding_cursor() as cursor:
        cursor.execute(_statement(tuple(changes)), [*values, session.pk, session.claimed_by, timezone.now(), keys])
        if not cursor.fetchone()[0]:
            raise LeaseLostError


@cache
def _statement(names: tuple[str, ...]) -> str:
    columns = ", ".join(f'"{_field(name).column}" = %s' for name in names)
    return f"""
WITH held AS (
    UPDATE evaluation_session SET {columns} WHERE id = %s AND claimed_by = %s AND state = 'running' RETURNING id
), finished AS (
    UPDATE evaluation_judging SET state = 'finished', finished_at = %s
    FROM held WHERE evaluation_judging.id = ANY(%s) AND finished_at IS NULL
)
SELECT count(*) FROM held
"""  # noqa: S608  # names are the model's


def _field(name: str) -> models.Field[Any, Any]:
    field = Session._meta.get_field(name)
    assert isinstance(field, models.Field)
    return field
