"""Answered calls of sessions, each stored with the count of what it used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from evaluation.models.calls import ModelCall
from evaluation.models.inserts import plain_values, typed_columns
from evaluation.models.together import Together
from studio.models.statements import binding_cursor


@dataclass(frozen=True)
class CountedCall:
    row: ModelCall
    part: str
    """Key of ``Session.tokens``."""
    tokens: int
    again: bool = False
    """Whether it may be stored already, and counted with it."""


@dataclass(frozen=True)
class StoredCall:
    key: int | None
    """None: the same request was stored before."""
    spent: CountedUse | None
    """Of the session, with this call; None if it was counted before."""


@dataclass(frozen=True)
class CountedUse:
    claimed_by: str
    calls: int
    cost: Decimal
    tokens: Mapping[str, int]


def store_calls(calls: Sequence[CountedCall]) -> list[StoredCall]:
    """In one statement, of different sessions. A call is counted even if its request was stored before: it was paid
    for."""
    document = [
        plain_values(call.row) | {"used_part": call.part, "used": call.tokens, "again": call.again} for call in calls
    ]
    sessions = sorted(call.row.session_id for call in calls)
    with binding_cursor() as cursor:
        cursor.execute(_statement(), [json.dumps(document, ensure_ascii=False), sessions])
        found = {session: rest for session, *rest in cursor.fetchall()}
    stored = []
    for call in calls:
        key, token, number, cost, tokens = found[call.row.session_id]
        counted = json.loads(tokens) if isinstance(tokens, str) else tokens
        stored.append(StoredCall(key, None if token is None else CountedUse(token, number, cost, counted)))
    return stored


@cache
def _statement() -> str:
    """Rows are locked in order, so that two such statements never wait for each other."""
    table, names, typed = typed_columns(ModelCall)
    return f"""
WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%s::json) AS r({typed}, used_part text, used bigint, again boolean)
), new AS (
    INSERT INTO {table} ({names}) SELECT {names} FROM given ON CONFLICT DO NOTHING RETURNING id, session_id
), held AS MATERIALIZED (
    SELECT id FROM evaluation_session WHERE id = ANY(%s::bigint[]) ORDER BY id FOR NO KEY UPDATE
), counted AS (
    UPDATE evaluation_session AS s
    SET calls = s.calls + 1,
        cost = s.cost + given.cost,
        tokens = s.tokens || jsonb_build_object(used_part, coalesce((s.tokens ->> used_part)::bigint, 0) + used)
    FROM held JOIN given ON given.session_id = held.id
    WHERE s.id = held.id AND (NOT again OR EXISTS (SELECT FROM new WHERE new.session_id = s.id))
    RETURNING s.id, s.claimed_by, s.calls, s.cost, s.tokens
)
SELECT given.session_id, new.id, counted.claimed_by, counted.calls, counted.cost, counted.tokens
FROM given LEFT JOIN new ON new.session_id = given.session_id LEFT JOIN counted ON counted.id = given.session_id
"""  # noqa: S608  # names are the model's


together: Together[CountedCall, StoredCall] = Together(store_calls, lambda call: call.row.session_id)
"""Of all sessions of this process."""
