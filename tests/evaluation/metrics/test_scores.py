from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.grading.items import completeness
from evaluation.metrics.scores import (
    Outcome,
    Score,
    TaskResult,
    benchmark_score,
    comp,
    group_size,
    mean,
    persona_score,
    proc,
    spread,
)
from evaluation.protocol.scoring import ScoringMode


def result(
    name: str,
    intents: int = 2,
    covered: int = 1,
    value: float | None = 1.0,
    *needs: str,
    setup: bool = False,
    outcome: Outcome = "finished",
) -> TaskResult:
    grades = {} if setup else {"compat": value, "strict": value}
    return TaskResult(name, outcome, intents, covered, grades, setup, needs)


def by_hand(**changes: Outcome) -> list[TaskResult]:
    """The example of the module's first lines."""
    return [
        result("a", 2, 1, setup=True, outcome=changes.get("a", "finished")),
        result("b", 1, 0, setup=True, outcome=changes.get("b", "finished")),
        result("c", 3, 2, 3 / 4, "a", "b", outcome=changes.get("c", "finished")),
        result("d", 2, 2, 0.0, outcome=changes.get("d", "finished")),
    ]


def test_worked_example():
    assert persona_score(by_hand(), ScoringMode.COMPAT) == Score(5 / 8, 9 / 16, 2)
    assert persona_score(by_hand(), ScoringMode.STRICT) == Score(5 / 8, 9 / 16, 2)


def test_failed_task_is_left_out_in_compat_and_zero_in_strict():
    results = by_hand(c="failed")

    assert persona_score(results, ScoringMode.COMPAT) == Score(1.0, 0.0, 2, failed=1)
    assert persona_score(results, ScoringMode.STRICT) == Score(1 / 4, 0.0, 2, failed=1)


def test_failed_dependency_leaves_the_pool_in_compat_and_covers_nothing_in_strict():
    results = {item.task_id: item for item in by_hand(a="failed")}

    assert proc(results["c"], results, ScoringMode.COMPAT) == 2 / 4
    assert proc(results["c"], results, ScoringMode.STRICT) == 2 / 6


def test_infrastructure_failure_makes_dependents_missing():
    strict = persona_score(by_hand(b="missing"), ScoringMode.STRICT)
    gone = persona_score(by_hand(c="missing"), ScoringMode.STRICT)

    assert strict == Score(1.0, 9 / 16, 2, missing=1)
    assert gone == Score(1.0, 0.0, 2, missing=1)


def test_ungraded_task_has_proc_but_no_comp():
    ungraded = result("x", 2, 1, None)

    assert (comp(ungraded, ScoringMode.STRICT), proc(ungraded, {}, ScoringMode.STRICT)) == (None, 1 / 2)
    assert persona_score([ungraded], ScoringMode.STRICT) == Score(1 / 2, None, 1, missing=1)


def test_benchmark_score_is_the_mean_over_personas():
    assert benchmark_score([Score(1.0, None, 9, 1), Score(0.5, 0.25, 1, 0, 2)]) == Score(0.75, 0.25, 10, 1, 2)


def test_spread_is_the_sample_standard_deviation():
    assert (mean([1.0, None, 3.0]), spread([1.0, None, 3.0])) == (2.0, pytest.approx(2**0.5))
    assert (mean([]), spread([1.0])) == (None, None)


@st.composite
def episodes(draw: st.DrawFn) -> list[TaskResult]:
    results: list[TaskResult] = []
    for number in range(draw(st.integers(1, 7))):
        setups = [item.task_id for item in results if item.setup]
        setup = draw(st.booleans())
        needs = [] if setup or not setups else draw(st.lists(st.sampled_from(setups), unique=True, max_size=3))
        intents = draw(st.integers(1, 9))
        value = draw(st.none() | st.floats(0, 1))
        results.append(result(f"t{number}", intents, draw(st.integers(0, intents)), value, *needs, setup=setup))
    return results


@settings(max_examples=80, deadline=None)
@given(episodes())
def test_proc_and_comp_match_a_brute_force_oracle(results: list[TaskResult]):
    """Every task enters as often as its group has members; pools are counted intent by intent."""
    procs: list[float] = []
    comps: list[float] = []
    for item in results:
        if item.setup:
            continue
        pool = [item, *(other for other in results if other.task_id in item.depends_on)]
        flags = [n < member.covered for member in pool for n in range(member.intents)]
        procs += [flags.count(True) / len(flags)] * len(pool)
        value = item.comp["strict"]
        comps += [] if value is None else [value] * len(pool)

    score = persona_score(results, ScoringMode.STRICT)

    assert score.proc == (pytest.approx(sum(procs) / len(procs)) if procs else None)
    assert score.comp == (pytest.approx(sum(comps) / len(comps)) if comps else None)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.none() | st.booleans()), max_size=8))
def test_comp_is_the_met_share_of_the_graded_weight(graded: list[tuple[int, bool | None]]):
    units = [value for weight, value in graded for _ in range(weight) if value is not None]

    expected = units.count(True) / len(units) if units else None

    assert completeness(graded) == (None if expected is None else pytest.approx(expected))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n), st.integers(0, n)))))
)
def test_group_holds_all_transitive_dependencies(graph: tuple[int, set[tuple[int, int]]]):
    n, edges = graph
    needs = {str(a): [str(b) for x, b in edges if x == a and b < a] for a in range(n)}

    def reach(node: str) -> set[str]:
        return {node}.union(*(reach(other) for other in needs.get(node, [])))

    for node in needs:
        assert group_size(node, needs) == len(reach(node))
