"""Whether one judge is worse than another on the same decisions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.audits.paired import PairedCase, compare, sign_flip_p


def case(cluster: int, *, credit: bool, before: bool, now: bool) -> PairedCase:
    """``before`` and ``now``: whether the judges gave credit."""
    return PairedCase(str(cluster), credit, before == credit, now == credit, before, now)


@pytest.mark.parametrize(("worse", "better"), [(10, 2), (5, 0), (7, 7), (0, 4), (1, 0)])
def test_single_decisions_have_mcnemars_exact_test(worse: int, better: int):
    n = worse + better
    binomial = sum(math.comb(n, k) for k in range(worse, n + 1)) / 2**n

    assert sign_flip_p([1] * worse + [-1] * better) == pytest.approx(binomial)


def test_mistakes_in_one_session_are_one_piece_of_evidence():
    assert sign_flip_p([8]) == 0.5
    assert sign_flip_p([2, 2, 2, 2, 2]) == sign_flip_p([1] * 5) == 1 / 32


@given(st.lists(st.integers(-4, 4), max_size=20))
def test_order_and_equal_sessions_do_not_matter(differences: list[int]):
    p = sign_flip_p(differences)

    assert 0 < p <= 1
    assert sign_flip_p([0, *reversed(differences), 0]) == pytest.approx(p)


def test_judge_is_worse_only_beyond_chance_and_also_if_it_only_passes_more():
    four = compare([case(each, credit=True, before=True, now=False) for each in range(4)])
    five = compare([case(each, credit=True, before=True, now=False) for each in range(5)])
    balanced = [case(each, credit=True, before=False, now=True) for each in range(5)]
    lenient = compare(balanced + [case(each, credit=False, before=False, now=True) for each in range(10, 15)])

    assert (four.is_worse, five.is_worse) == (False, True)
    assert (five.wrong.n, five.wrong.before, five.wrong.now, five.sessions) == (5, 0, 5, 5)
    assert (lenient.wrong.is_worse, lenient.false_pass.is_worse, lenient.is_worse) == (False, True, True)
