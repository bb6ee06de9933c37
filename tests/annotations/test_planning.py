import math

import pytest

from annotations.sampling import decisions_needed, half_width, sessions_needed


@pytest.mark.parametrize("wanted", [0.1, 0.05, 0.02, 0.01])
def test_as_few_decisions_as_give_the_half_width(wanted: float):
    n = decisions_needed(wanted)

    assert half_width(n) <= wanted < half_width(n - 1)


def test_sixty_decisions_know_a_rate_of_3_percent_to_about_5_points():
    assert half_width(60) == pytest.approx(0.05, abs=0.005)


def test_sessions_need_more_decisions_since_theirs_are_alike():
    n = decisions_needed(0.02)

    assert sessions_needed(0.02, questions=10) == math.ceil(1.5 * n / 10)
    assert sessions_needed(0.02, questions=0) == sessions_needed(0.02, questions=1) == math.ceil(1.5 * n)


@pytest.mark.parametrize("wanted", [0, -0.1, 0.5])
def test_half_width_is_a_share(wanted: float):
    with pytest.raises(ValueError, match="half-width"):
        decisions_needed(wanted)
