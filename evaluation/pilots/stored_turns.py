"""Turns with all that belongs to them, of several sessions, in one statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from django.db.models import Model

from evaluation.leases.sessions import LeaseLostError
from evaluation.models import Session, SessionIntent, ToolCall, Turn, Verdict
from evaluation.models.inserts import insert_belonging, plain_values
from evaluation.models.together import NotStoredTogetherError, Together
from studio.models.statements import binding_cursor


@dataclass(frozen=True)
class TurnRows:
    session: Session
    turn: Turn
    covered: int
    calls: Sequence[ToolCall]
    verdicts: Sequence[Verdict]
    intents: Sequence[SessionIntent]


def store_rows(rows: TurnRows) -> None:
    """Together with those of other sessions. Raises LeaseLostError; then nothing is stored."""
    try:
        held = _together.store(rows)
    except NotStoredTogetherError:
        [held] = store_all([rows])
    if not held:
        raise LeaseLostError


def store_all(turns: Sequence[TurnRows]) -> list[bool]:
    """Of different sessions. Whether each was stored: its lease may have been lost."""
    sessions = [
        {"id": each.session.pk, "token": each.session.claimed_by, "number": each.turn.number, "covered": each.covered}
        for each in turns
    ]
    kinds: tuple[list[tuple[int, Model]], ...] = ([], [], [], [])
    for each in turns:
        for found, rows in zip(kinds, ([each.turn], each.calls, each.verdicts, each.intents), strict=True):
            found += [(each.session.pk, row) for row in rows]
    documents = [[plain_values(row) | {"of": of} for of, row in rows] for rows in kinds]
    keys = sorted(each.session.pk for each in turns)
    with binding_cursor() as cursor:
        cursor.execute(_statement(), [_to_json(sessions), keys, *(_to_json(document) for document in documents)])
        held = {pk for (pk,) in cursor.fetchall()}
    return [each.session.pk in held for each in turns]


def _to_json(rows: object) -> str:
    return json.dumps(rows, ensure_ascii=False)


@cache
def _statement() -> str:
    """Rows are locked in order, so that two such statements never wait for each other."""
    of_session = {"session_id": "held.id"}
    return f"""
WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%s::json) AS g(id bigint, token text, number smallint, covered smallint)
), locked AS MATERIALIZED (
    SELECT id FROM evaluation_session WHERE id = ANY(%s::bigint[]) ORDER BY id FOR NO KEY UPDATE
), held AS (
    UPDATE evaluation_session AS s
    SET turn_count = given.number, covered = given.covered, attempts = 1, failing_since = NULL
    FROM locked JOIN given ON given.id = locked.id
    WHERE s.id = locked.id AND s.claimed_by = given.token AND s.state = 'running'
    RETURNING s.id, given.number
), turn AS (
    {insert_belonging(Turn, "held", "held.id", of_session)} RETURNING id, session_id
), calls AS (
    {insert_belonging(ToolCall, "turn", "turn.session_id", {"turn_id": "turn.id"})}
), verdicts AS (
    {insert_belonging(Verdict, "held", "held.id", {})}
), intents AS (
    {insert_belonging(SessionIntent, "held", "held.id", of_session)}
), forgotten AS (
    DELETE FROM evaluation_madecall AS made USING held
    WHERE made.session_id = held.id AND made.turn <= held.number AND NOT made.outside
)
SELECT id FROM held
"""  # noqa: S608  # names are the models'


_together: Together[TurnRows, bool] = Together(store_all, lambda rows: rows.session.pk)
