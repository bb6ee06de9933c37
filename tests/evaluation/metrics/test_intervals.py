from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.intervals import t_quantile
from evaluation.metrics.intervals import Estimate, Point, estimate

shares = st.one_of(st.none(), st.floats(0, 1))
points = st.lists(
    st.builds(
        Point,
        stratum=st.sampled_from(["baker", "clerk"]),
        cluster=st.sampled_from(["a", "b", "c"]),
        run=st.integers(1, 3),
        value=shares,
        weight=st.integers(1, 4).map(float),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("df", "tabulated"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (70, 1.9944)]
)
def test_students_t_is_as_tabulated(df, tabulated):
    assert t_quantile(df) == pytest.approx(tabulated, rel=2e-3)


@given(points)
def test_mean_is_over_runs_of_means_over_strata_of_weighted_means(rows):
    result = estimate(rows)

    known = [row for row in rows if row.value is not None]
    strata = {row.stratum for row in known}
    by_run = []
    for run in {row.run for row in known}:
        means = []
        for stratum in strata:
            own = [row for row in known if (row.run, row.stratum) == (run, stratum)]
            if own:
                means.append(sum(row.weight * row.value for row in own) / sum(row.weight for row in own))
        if len(means) == len(strata):
            by_run.append(statistics.fmean(means))
    assert result.n == len(known)
    assert result.mean == (pytest.approx(statistics.fmean(by_run)) if by_run else None)
    assert result.sd == (pytest.approx(statistics.stdev(by_run), abs=1e-12) if len(by_run) > 1 else None)
    if result.low is not None:
        assert 0 <= result.low <= result.mean + 1e-12 and result.mean - 1e-12 <= result.high <= 1


def half_width(rows: list[Point]) -> float | None:
    return estimate(rows, low=-9, high=9).half_width


def test_half_width_is_students_t_times_the_standard_error_of_a_mean():
    rows = [Point("baker", str(group), 1, float(group)) for group in range(4)]
    doubled = [*rows, *(row._replace(stratum="clerk") for row in rows)]

    error = statistics.stdev(range(4)) / 2
    assert half_width(rows) == pytest.approx(3.1824 * error, rel=0.06)
    assert half_width(doubled) == pytest.approx(t_quantile(6) * error / 2**0.5, rel=0.06)


def test_a_persona_with_one_group_widens_no_interval():
    rows = [Point("baker", str(group), 1, float(group)) for group in range(4)]

    assert half_width([*rows, Point("clerk", "a", 1, 0.5)]) == pytest.approx(half_width(rows) / 2)


def test_groups_that_do_not_differ_have_a_mean_and_no_interval():
    """Two that both fell by a third would else be 95 % sure of exactly that."""
    found = estimate([Point("baker", group, 1, -1 / 3) for group in "ab"], low=-1.0)

    assert (found.mean, found.low, found.high) == (pytest.approx(-1 / 3), None, None)


def test_one_group_has_a_mean_and_no_interval():
    assert estimate([Point("baker", "a", 1, 0.5), Point("baker", "a", 2, 0.7)]) == Estimate(
        pytest.approx(0.6), pytest.approx(statistics.stdev([0.5, 0.7])), None, None, 2
    )


@pytest.mark.slow
def test_interval_covers_the_true_mean_as_often_as_it_says():
    """Five personas, fourteen groups of up to three tasks that share an effect, three runs: as a benchmark is built."""
    random = np.random.default_rng(7)
    covered, rounds = 0, 400
    for _ in range(rounds):
        rows = []
        for persona in range(5):
            for group in range(14):
                effect = random.normal(0.55, 0.15)
                for _ in range(1 + group % 3):
                    task = random.normal(effect, 0.1)
                    rows += [
                        Point(str(persona), str(group), run, float(random.normal(task, 0.05)), 1.0 + group % 3)
                        for run in (1, 2, 3)
                    ]
        result = estimate(rows, low=-9, high=9)
        covered += result.low <= 0.55 <= result.high
    assert 0.93 <= covered / rounds <= 0.975
