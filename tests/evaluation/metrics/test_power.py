from __future__ import annotations

import math
import random
import statistics

import pytest

from evaluation.metrics.power import Needed, needed


def test_without_noise_between_runs_more_runs_do_not_help():
    first = {"a": [0.0, 0.0], "b": [0.2, 0.2], "c": [0.4, 0.4]}
    second = {"a": [0.1, 0.1], "b": [0.5, 0.5], "c": [0.6, 0.6]}

    found = needed(first, second)

    # differences 0.1, 0.3, 0.2: mean 0.2, variance 0.01; (1.96 + 0.84)² · 0.01 / 0.04 = 1.96
    assert (found.difference, found.between, found.within) == (pytest.approx(0.2), pytest.approx(0.01), 0.0)
    assert (found.tasks_needed(1), found.tasks_needed(5), found.runs_needed()) == (2, 2, 1)


def test_equal_agents_cannot_be_told_apart():
    found = needed({"a": [0.5], "b": [0.1]}, {"a": [0.1], "b": [0.5]})

    assert (found.tasks_needed(3), found.runs_needed()) == (None, None)


def test_numbers_of_tasks_and_runs_are_those_of_the_formula():
    """(1.96 + 0.84)² is 7.849."""
    found = Needed(difference=0.2, between=0.01, within=0.08, tasks=10)

    # 7.849 · (0.01 + 0.08 / k) / 0.04 = 17.7 and 5.9; 0.08 / (10 · 0.04 / 7.849 - 0.01) = 1.95
    assert (found.tasks_needed(1), found.tasks_needed(4), found.runs_needed()) == (18, 6, 2)
    assert Needed(0.2, 0.01, 0.08, tasks=1).runs_needed() is None
    assert (Needed(0.001, 0.01, 0.0, 10).tasks_needed(1), Needed(0.0005, 0.01, 0.0, 10).tasks_needed(1)) == (
        78_489,
        None,
    )


def test_noise_between_two_runs_is_taken_from_the_variance_between_tasks():
    found = needed({"a": [0.0, 0.2], "b": [0.0, 0.2], "c": [0.1]}, {"a": [0.3, 0.5], "b": [0.5, 0.7], "c": [0.4]})

    # differences 0.3, 0.5, 0.3 have the variance 0.0133, means of two runs 0.01 each side, of one run nothing
    assert found.within == pytest.approx(2 * 0.02)
    assert found.between == pytest.approx(0.04 / 3 - (0.02 + 0.02 + 0) / 3)


def test_one_task_in_common_says_nothing():
    assert needed({"a": [0.5], "b": [0.1]}, {"a": [0.1], "c": [0.5]}) is None


@pytest.mark.slow
def test_so_many_tasks_find_the_difference_four_times_in_five():
    """By simulation with known variances: tasks differ by 0.2 between agents, runs by 0.3 around their task."""
    rng = random.Random(7)

    def scores(tasks: int, runs: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
        first, second = {}, {}
        for number in range(tasks):
            shift = rng.gauss(0.1, 0.2)
            first[str(number)] = [rng.gauss(0, 0.3) for _ in range(runs)]
            second[str(number)] = [shift + rng.gauss(0, 0.3) for _ in range(runs)]
        return first, second

    found = needed(*scores(4000, 3))
    assert (found.between, found.within) == (pytest.approx(0.04, rel=0.15), pytest.approx(0.18, rel=0.1))
    tasks = found.tasks_needed(3)
    hits = 0
    for _ in range(400):
        first, second = scores(tasks, 3)
        differences = [statistics.fmean(second[name]) - statistics.fmean(first[name]) for name in first]
        error = statistics.stdev(differences) / math.sqrt(tasks)
        hits += abs(statistics.fmean(differences)) > 1.98 * error
    assert 0.72 < hits / 400 < 0.88
