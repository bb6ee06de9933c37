"""The scores of pilots, cached with a key, and choosing the round that scores one. The verdicts of the judgings that
score are the truth; a choice is recorded, nothing is overwritten."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Max, OuterRef, Subquery

from evaluation.grading.credit import SAMPLE_RULES, TURN_RULES, TurnRule
from evaluation.judging.judgings import Rules, recompute_results, rules_from, rules_of, rules_to_json, scoring_choice
from evaluation.models import Judging, JudgingRound, Pilot, ScoringChoice, Session, VerdictCorrection
from evaluation.models.judgings import Purpose
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.protocol.versions import ProtocolName
from evaluation.results.loading import JudgedPilot, load_pilot
from evaluation.results.pilot_report import scores_json
from studio.domain.options import OptionsError
from studio.models import User
from studio.models.transactions import atomic_with_retry

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


TURN_CHOICES = [(name, rule.label) for name, rule in TURN_RULES.items()]
SAMPLE_CHOICES = [(name, rule.label) for name, rule in SAMPLE_RULES.items()]


def rules_named(pilot: Pilot, names: Mapping[str, str]) -> Rules:
    """As chosen now, but for those named: ``compat``, ``strict``, ``samples``."""
    return rules_from(names, rules_of(scoring_choice(pilot)))


@atomic_with_retry
def choose_scoring(
    pilot: Pilot, judging_round: JudgingRound, rules: Rules | None = None, *, by: User | None
) -> ScoringChoice:
    """From now on ``judging_round`` scores the pilot. Rules that are not given stay. Raises OptionsError."""
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot.pk)
    before = scoring_choice(pilot)
    rules = rules or rules_of(before)
    _validate(pilot, judging_round, rules)
    if before.round_id == judging_round.pk and rules_of(before) == rules:
        return before
    choice = ScoringChoice.objects.create(pilot=pilot, round=judging_round, rules=rules_to_json(rules), by=by)
    number = judging_round.number
    pilot.record("rescored", f"Chose round {number} to score pilot {pilot.number}.", by, round=number)
    refresh_scores([pilot])
    recompute_results(pilot.benchmark_id)
    return choice


def _validate(pilot: Pilot, judging_round: JudgingRound, rules: Rules) -> None:
    if judging_round.pilot_id != pilot.pk:
        raise OptionsError("round", "This round is of another pilot.")
    for mode, rule in rules.items():
        if rule.turns not in TURN_RULES or rule.samples not in SAMPLE_RULES:
            raise OptionsError("rules", f"There is no such credit rule for {mode}.")
    if pilot.state in UNFINISHED:
        raise OptionsError("round", "The pilot is still running. Choose once it has ended.")
    if judging_round.purpose == Purpose.AUDIT:
        raise OptionsError("round", "What a model answered in an audit never scores. Judge the pilot again.")
    if judging_round.number > 1:
        _validate_finished(pilot, judging_round)
    if judging_round.protocol != pilot.protocol:
        raise OptionsError(
            "round",
            f"This round judged under the {judging_round.protocol} protocol; the pilot ran under {pilot.protocol}.",
        )
    _validate_turns(judging_round, TURN_RULES[rules[ScoringMode.STRICT].turns])


def _validate_turns(judging_round: JudgingRound, strict: TurnRule) -> None:
    if judging_round.every_turn:
        return
    if judging_round.protocol == ProtocolName.PAPER and not strict.every_turn:
        raise OptionsError(
            "rules",
            "This round judged criteria at the end of sessions, so only the last turn is known. Judge again "
            "with every turn.",
        )
    if judging_round.protocol == ProtocolName.RELEASE and strict.every_turn:
        raise OptionsError(
            "rules",
            "This round stopped judging an item once it was met, so its last turn is not known. Judge again with "
            "every turn.",
        )


def _validate_finished(pilot: Pilot, judging_round: JudgingRound) -> None:
    rows = Judging.objects.filter(round=judging_round)
    if rows.exclude(state=Judging.State.FINISHED).exists():
        raise OptionsError("round", "Some of its judgings are not finished.")
    finished = Session.objects.filter(run__pilot=pilot, state=Session.State.FINISHED)
    missing = finished.exclude(pk__in=rows.values("session")).count()
    if missing:
        raise OptionsError("round", f"It left out {missing} finished sessions, so it cannot score the pilot.")
