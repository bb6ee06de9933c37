"""Choosing the round that scores a pilot. It is recorded, nothing is overwritten."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.grading.credit import SAMPLE_RULES, TURN_RULES, TurnRule
from evaluation.judging.judgings import Rules, recompute_results, rules_from, rules_of, rules_to_json, scoring_choice
from evaluation.models import Judging, JudgingRound, Pilot, ScoringChoice, Session
from evaluation.models.judgings import Purpose
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from evaluation.results.scores import UNFINISHED, refresh_scores
from studio.domain.options import OptionsError
from studio.models import User
from studio.models.transactions import atomic_with_retry

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
