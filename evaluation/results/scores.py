"""The scores of pilots, cached with a key. The verdicts of the judgings that score are the truth."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Max, OuterRef, Subquery

from evaluation.models import Pilot, ScoringChoice, Session, VerdictCorrection
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.loading import JudgedPilot, load_pilot
from evaluation.results.pilot_report import scores_json

VERSION = 3
"""Increase when scores are computed otherwise."""
UNFINISHED = (Pilot.State.WAITING, Pilot.State.RUNNING)

_SESSIONS = """
SELECT run.pilot_id, md5(string_agg(concat_ws(':', session.id, session.state, session.ended_at, session.turn_count,
       session.graded_compat_at, session.graded_strict_at, session.agent_tokens, session.user_tokens,
       session.judge_tokens, session.compat_tokens, session.strict_tokens, session.cost), ',' ORDER BY session.id))
  FROM evaluation_session AS session JOIN evaluation_run AS run ON run.id = session.run_id
 WHERE run.pilot_id = ANY(%s) GROUP BY run.pilot_id
"""


def read_scores(pilot: Pilot) -> dict[str, Any] | None:
    """None while it runs."""
    return refresh_scores([pilot])[0].scores


def refresh_scores(pilots: Iterable[Pilot]) -> list[Pilot]:
    """``pilots`` with the scores that follow from what is stored now, recomputed where the cache is older."""
    return refreshed(pilots)[0]


def refreshed(pilots: Iterable[Pilot]) -> tuple[list[Pilot], dict[int, str]]:
    """Also the keys of their scores."""
    rows = list(pilots)
    keys = score_keys([row.pk for row in rows])
    for row in rows:
        if row.state in UNFINISHED:
            row.scores = None
        elif row.scores is None or row.scores_key != keys[row.pk]:
            store_scores(row, keys[row.pk])
    return rows, keys


def store_scores(pilot: Pilot, key: str = "") -> None:
    """Compute and cache them, also what each session came to."""
    key = key or score_keys([pilot.pk])[pilot.pk]
    loaded = load_pilot(pilot)
    _store_sessions(loaded)
    pilot.scores, pilot.scores_key = scores_json(loaded), key
    Pilot.objects.filter(pk=pilot.pk).update(scores=pilot.scores, scores_key=key)


def score_keys(pilots: Sequence[int]) -> dict[int, str]:
    """By pilot: a hash of everything that its scores are computed from, sessions that it took over included."""
    taken = Pilot.taken_sessions.through.objects.filter(pilot__in=pilots).order_by("pilot", "session__run__pilot")
    origins = list(taken.values_list("pilot", "session__run__pilot").distinct())
    own = _own_keys([*pilots, *(origin for _, origin in origins)])
    keys = {pk: own[pk] for pk in pilots}
    for pk, origin in origins:
        keys[pk] = hashlib.sha256(f"{keys[pk]}{own[origin]}".encode()).hexdigest()
    return keys


def _own_keys(pilots: Sequence[int]) -> dict[int, str]:
    choices = ScoringChoice.objects.filter(pilot=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    chosen = dict(Pilot.objects.filter(pk__in=pilots).values_list("pk", Subquery(choices)))
    path = "verdict__judging__round__pilot"
    corrections = VerdictCorrection.objects.filter(**{f"{path}__in": pilots}).order_by().values(path)
    corrected = dict(corrections.values_list(path, Max("pk")))
    with connection.cursor() as cursor:
        cursor.execute(_SESSIONS, [list(pilots)])
        sessions = dict(cursor.fetchall())
    return {
        pk: hashlib.sha256(
            json.dumps([VERSION, chosen.get(pk), corrected.get(pk), sessions.get(pk)]).encode()
        ).hexdigest()
        for pk in pilots
    }


def _store_sessions(loaded: JudgedPilot) -> None:
    changed = []
    for session in loaded.sessions:
        if session.state != Session.State.FINISHED or session.run.pilot_id != loaded.pilot.pk:
            continue
        result = loaded.results[session.pk]
        covered = sum(status.status in COVERED for status in loaded.judged[session.pk].statuses.values())
        now = (covered, result.comp[ScoringMode.COMPAT], result.comp[ScoringMode.STRICT], loaded.ungraded(session))
        if now != (session.covered, session.comp_compat, session.comp_strict, session.ungraded):
            session.covered, session.comp_compat, session.comp_strict, session.ungraded = now
            changed.append(session)
    Session.objects.bulk_update(changed, ["covered", "comp_compat", "comp_strict", "ungraded"], batch_size=500)
