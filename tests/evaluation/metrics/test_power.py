from __future__ import annotations

import math
import random
import statistics

import pytest

from evaluation.metrics.power import needed


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
