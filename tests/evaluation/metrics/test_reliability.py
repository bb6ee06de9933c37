"""pass^k: the share of what is achieved in all of k runs."""

from __future__ import annotations

from itertools import combinations

import pytest

from evaluation.metrics.reliability import Played, Reliability, agent_reliability, pass_all, played, reliability
from tests.evaluation.builders import intents, rubric, task


@pytest.mark.parametrize("runs", [(True, True, False, True), (False, False), (True,), (True, True, True)])
def test_estimate_is_the_share_of_all_choices_of_k_runs_that_succeed_every_time(runs: tuple[bool, ...]):
    for k in range(1, len(runs) + 1):
        choices = list(combinations(runs, k))
        assert pass_all(sum(runs), len(runs), k) == sum(map(all, choices)) / len(choices)


def test_things_with_fewer_runs_than_k_are_left_out():
    assert reliability({"a": [True, True, False], "b": [True], "c": [True, False]}) == [
        Reliability(1, (2 / 3 + 1 + 1 / 2) / 3, 3),
        Reliability(2, (1 / 3 + 0) / 2, 2),
        Reliability(3, 0.0, 1),
    ]


def test_session_that_failed_achieves_nothing_and_a_setup_task_is_not_scored():
    scored = task("a", checklist=(rubric("x"),), intents=intents("One.", "Two.", "Three.", provided=(3,)))
    statuses = {1: "completed", 2: "provided", 3: "provided"}

    assert played("a", scored, statuses, "finished", 1.0) == Played("a", {1: True, 2: False}, 1.0)
    assert played("a", scored, statuses, "failed", None) == Played("a", {1: False, 2: False}, 0.0)
    assert played("b", task("b"), {}, "finished", None).comp is None


def test_nothing_has_no_reliability():
    assert reliability({}) == []
    with pytest.raises(ValueError, match="2 of 1 runs"):
        pass_all(1, 1, 2)


def test_a_whole_task_is_achieved_if_all_of_its_criteria_are_met_and_an_intent_by_itself():
    runs = [Played("a", {1: True, 2: False}, 1.0), Played("a", {1: True, 2: True}, 0.75), Played("b", {1: False}, None)]

    assert agent_reliability(runs) == {
        "intents": [Reliability(1, pytest.approx((1 + 0.5 + 0) / 3), 3), Reliability(2, 0.5, 2)],
        "tasks": [Reliability(1, 0.5, 1), Reliability(2, 0.0, 1)],
    }
