import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.intervals import NBSP, clustered_wilson, wilson


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_examples_of_newcombe_1998(count, n, low, high):
    rate = wilson(count, n)

    assert (rate.low, rate.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_rate_is_formatted_with_interval_and_n():
    assert wilson(3, 113).percent.replace(NBSP, " ") == "2.7 % (0.9–7.5 %, n = 113)"
    assert wilson(0, 0).percent.replace(NBSP, " ") == "– (n = 0)"


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3)])
def test_invalid_proportion_is_rejected(count, n):
    with pytest.raises(ValueError, match="not a proportion"):
        wilson(count, n)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_contains_the_rate_and_is_symmetric(pair):
    count, n = pair
    rate, mirrored = wilson(count, n), wilson(n - count, n)

    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.low == pytest.approx(1 - mirrored.high)


def test_single_answers_have_the_plain_interval():
    answers = [(number, number < 2) for number in range(20)]

    assert clustered_wilson(answers) == wilson(2, 20)


def test_answers_that_are_alike_within_clusters_have_a_wider_interval():
    alike = clustered_wilson((number // 5, number < 5) for number in range(40))
    plain = wilson(5, 40)

    assert (alike.count, alike.n, alike.value) == (plain.count, plain.n, plain.value)
    assert alike.low < plain.low
    assert plain.high < wilson(1, 8).high < alike.high < wilson(1, 8).high + 0.04


def test_clusters_never_make_an_interval_narrower():
    spread = clustered_wilson((number % 10, number < 10) for number in range(40))

    assert spread == wilson(10, 40)
    assert clustered_wilson([]) == wilson(0, 0)
    assert clustered_wilson([("a", False)] * 3) == wilson(0, 3)
