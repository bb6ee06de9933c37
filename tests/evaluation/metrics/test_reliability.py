"""pass^k: the share of what is achieved in all of k runs."""

from __future__ import annotations

from itertools import combinations

import pytest

from evaluation.metrics.reliability import Reliability, pass_all, reliability


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


def test_nothing_has_no_reliability():
    assert reliability({}) == []
    with pytest.raises(ValueError, match="2 of 1 runs"):
        pass_all(1, 1, 2)
