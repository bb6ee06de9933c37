from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.association import correlation, rank_correlation, ranks

pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=8)


def test_correlation_of_a_line_is_one():
    assert correlation([1, 2, 3], [5, 7, 9]) == pytest.approx(1)
    assert correlation([1, 2, 3], [9, 7, 5]) == pytest.approx(-1)


def test_nothing_varies_without_a_correlation():
    assert correlation([1, 1, 1], [1, 2, 3]) is None
    assert rank_correlation([1, 2], [1, 2]) is None


@given(st.lists(st.integers(0, 5), max_size=8))
def test_rank_is_one_more_than_those_below_and_half_of_the_others_that_are_equal(values):
    slow = [
        1 + sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]
    assert ranks(values) == slow


@given(pairs)
def test_correlation_agrees_with_the_mean_product_of_all_differences(points):
    """Over all pairs of points: the covariance is half the mean product of their differences."""

    def spread(one, other):
        return sum((a[one] - b[one]) * (a[other] - b[other]) for a, b in itertools.product(points, repeat=2))

    value = correlation([x for x, _ in points], [y for _, y in points])
    if not spread(0, 0) or not spread(1, 1):
        assert value is None
    else:
        assert value == pytest.approx(spread(0, 1) / (spread(0, 0) * spread(1, 1)) ** 0.5, abs=1e-9)
