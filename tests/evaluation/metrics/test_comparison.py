from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.comparison import compare, permutation_p
from evaluation.metrics.intervals import Point
from evaluation.metrics.scores import TaskResult
from evaluation.metrics.sessions import SessionRow, score_sessions
from evaluation.protocol.scoring import ScoringMode


def sessions(agent: str, scores: dict[str, list[float]]) -> list:
    """Comp of each task in each run; one intent, covered."""
    rows = []
    for task, values in scores.items():
        for run, value in enumerate(values, 1):
            result = TaskResult(task, "finished", 1, 1, dict.fromkeys(ScoringMode, value))
            rows.append(SessionRow(hash((agent, task, run)), agent, "baker", (1, run), result))
    return score_sessions(rows)


def test_permutations_of_three_groups_are_counted_by_hand():
    """Of eight choices of signs, only all plus and all minus reach the observed sum."""
    points = [Point("baker", group, 1, value) for group, value in zip("abc", (0.1, 0.2, 0.4), strict=True)]

    assert permutation_p(points) == 2 / 8
    assert permutation_p([Point("baker", "a", 1, 0.0)]) == 1.0
    assert permutation_p([]) is None


def test_same_groups_in_two_personas_are_not_joined():
    points = [Point(persona, "a", 1, 0.5) for persona in ("baker", "clerk")]

    assert permutation_p(points) == 2 / 4


def test_p_is_uniform_where_there_is_no_difference():
    random = np.random.default_rng(3)
    values = [
        permutation_p([Point("baker", str(group), 1, float(random.normal(0, 0.2))) for group in range(11)])
        for _ in range(300)
    ]

    assert np.mean([value < 0.05 for value in values]) == pytest.approx(0.05, abs=0.03)
    assert np.mean(values) == pytest.approx(0.5, abs=0.05)


def test_only_common_tasks_are_compared_and_runs_are_averaged_first():
    first = sessions("slow", {"a": [0.2, 0.4], "b": [0.5, 0.5], "only here": [1.0, 1.0]})
    second = sessions("quick", {"a": [0.6, 0.8], "b": [0.5, 0.5], "only there": [0.0]})

    result = compare(first, second, "comp", ScoringMode.STRICT)

    assert [(row.task, round(row.difference, 9)) for row in result.tasks] == [("a", 0.4), ("b", 0.0)]
    assert result.difference.mean == pytest.approx(0.2)
    assert (result.p, result.stands) == (1.0, False)
    assert [len(row.first_sessions) for row in result.tasks] == [2, 2]
    assert result.tasks[0].low < 0.4 < result.tasks[0].high
    assert (result.tasks[1].low, result.tasks[1].high) == (None, None)  # no run differs from another


@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"),
    [
        ([0.2, 0.4], [0.6, 0.8], 0.4 - 4.3027 * 0.02**0.5, 1.0),  # two degrees of freedom
        ([0.5, 0.5], [0.5, 0.51], 0.005 - 12.7062 * 0.005, 0.005 + 12.7062 * 0.005),  # one
    ],
)
def test_interval_of_a_task_is_by_welchs_t(ours: list[float], theirs: list[float], low: float, high: float):
    [row] = compare(sessions("slow", {"a": ours}), sessions("quick", {"a": theirs}), "comp", ScoringMode.STRICT).tasks

    assert [row.low, row.high] == pytest.approx([low, high], rel=1e-3)


def test_beyond_twelve_groups_the_signs_tried_count_the_observed_one():
    rising = [Point("baker", str(group), 1, 0.5) for group in range(20)]
    even = [point._replace(value=(-1) ** at * 0.5) for at, point in enumerate(rising)]

    assert permutation_p(rising) == 1 / 10_001
    assert permutation_p(even) == 1.0


def test_a_task_counts_by_the_tasks_it_stands_on_and_personas_alike():
    def rows(agent: str, scores: dict[str, float]) -> list:
        """c stands on a; another persona has d alone."""
        needs = {"c": ("a",)}
        return score_sessions(
            SessionRow(at, agent, "clerk" if task == "d" else "baker", (1, 1), TaskResult(
                task, "finished", 1, 1, dict.fromkeys(ScoringMode, value), task == "a", needs.get(task, ())
            ))
            for at, (task, value) in enumerate(scores.items())
        )  # fmt: skip

    before = rows("slow", {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0})
    after = rows("quick", {"a": 1.0, "b": 0.3, "c": 0.6, "d": 0.1})
    found = compare(before, after, "comp", ScoringMode.STRICT)

    assert found.difference.mean == pytest.approx(((0.3 + 2 * 0.6) / 3 + 0.1) / 2)
    assert (found.rose, found.fell, found.same) == (3, 0, 0)


def test_a_difference_in_every_group_is_significant():
    tasks = {str(number): [0.2] for number in range(8)}

    result = compare(
        sessions("slow", tasks), sessions("quick", {name: [0.9] for name in tasks}), "comp", ScoringMode.STRICT
    )

    assert (result.p, result.stands) == (2 / 256, True)
    assert result.tasks[0].low is None  # one run a side


def test_interval_of_a_task_needs_two_runs_on_each_side():
    for runs in ([0.6, 0.61], [0.1]), ([0.1], [0.6, 0.61]):
        slow, quick = (sessions(agent, {"a": side}) for agent, side in zip(("slow", "quick"), runs, strict=True))
        [row] = compare(slow, quick, "comp", ScoringMode.STRICT).tasks
        assert (row.low, row.high) == (None, None)
