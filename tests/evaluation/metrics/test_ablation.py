from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.comparison import AblatedSession, compare_arms, unchanged_tasks
from evaluation.metrics.scores import TaskResult
from evaluation.protocol.scoring import ScoringMode

STRICT = ScoringMode.STRICT


def last(task: str, comp: float | None, earlier: bool, *, persona: str = "baker", run: int = 1) -> AblatedSession:
    result = TaskResult(task, "finished", 1, 1, dict.fromkeys(ScoringMode, comp), depends_on=("before",))
    return AblatedSession(hash((persona, task, run, earlier)), persona, run, earlier, result)


def test_drop_is_paired_by_task_and_averaged_over_runs():
    sessions = [last("a", 0.8, True), last("a", 0.6, True, run=2), last("a", 0.4, False), last("b", 0.9, True)]

    comparison = compare_arms(sessions, "comp", STRICT)

    assert [(row.task, row.second, row.difference) for row in comparison.tasks] == [
        ("a", pytest.approx(0.7), pytest.approx(0.3))
    ]


def test_task_is_unchanged_only_if_it_is_for_every_agent():
    same = [last("same", 0.5, True), last("same", 0.5, False), last("other", 0.5, True)]
    arms = [compare_arms([*same, last("other", alone, False)], "comp", STRICT) for alone in (0.5, 0.1)]

    assert unchanged_tasks(arms) == [("baker", "same")]


shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), shares, st.booleans(), st.integers(1, 3)),
        max_size=20,
        unique_by=lambda row: (row[0], row[1], row[3], row[4]),
    )
)
def test_mean_drop_is_the_mean_over_personas_of_the_mean_over_tasks(rows):
    sessions = [last(task, comp, earlier, persona=who, run=run) for who, task, comp, earlier, run in rows]

    mean = compare_arms(sessions, "comp", STRICT).difference.mean

    personas = []
    for who in "ab":
        drops = []
        for task in "xyz":
            sides = [[c for p, t, c, e, _ in rows if (p, t, e) == (who, task, side)] for side in (True, False)]
            if all(sides):
                drops.append(statistics.mean(sides[0]) - statistics.mean(sides[1]))
        if drops:
            personas.append(statistics.mean(drops))
    assert mean == (pytest.approx(statistics.mean(personas)) if personas else None)
