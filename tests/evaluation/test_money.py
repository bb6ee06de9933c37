"""How amounts and probabilities stand on pages."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluation.templatetags.evaluation_ui import money, p_value


@pytest.mark.parametrize(
    ("amount", "shown"),
    [("0", "$0"), ("0.00001", "$0.00001"), ("0.0000004", "$0.0000004"), ("0.0949", "$0.0949"), ("1234.5", "$1,234.50")],
)
def test_an_amount_above_zero_is_never_shown_as_zero(amount: str, shown: str):
    assert money(Decimal(amount)) == shown


def test_a_small_probability_is_not_shown_as_zero():
    assert (p_value(0.0), p_value(0.0004), p_value(0.0421)) == ("p < 0.001", "p < 0.001", "p = 0.042")
