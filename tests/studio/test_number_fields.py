"""What fields for numbers say of other input."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from studio.forms.fields import AmountField, NumberField, WholeNumberField


@pytest.mark.parametrize("typed", ["0", "2001", "two", "1.5"])
def test_whole_number_field_says_what_may_be_entered(typed: str):
    with pytest.raises(ValidationError) as error:
        WholeNumberField(min_value=1, max_value=2000).clean(typed)

    assert error.value.messages == ["Enter a whole number between 1 and 2,000."]


@pytest.mark.parametrize(
    ("bounds", "typed", "message"),
    [
        ({"min_value": 0}, "-1", "Enter a number of 0 or more."),
        ({"max_value": 0.5}, "0.6", "Enter a number of at most 0.5."),
        ({}, "half", "Enter a number."),
    ],
)
def test_number_field_names_the_bound_it_has(bounds: dict[str, float], typed: str, message: str):
    with pytest.raises(ValidationError) as error:
        NumberField(**bounds).clean(typed)

    assert error.value.messages == [message]


@pytest.mark.parametrize("typed", ["-0.01", "1000000", "0.1234567", "some"])
def test_amount_field_says_how_large_and_how_precise_an_amount_may_be(typed: str):
    with pytest.raises(ValidationError) as error:
        AmountField(max_digits=12, decimal_places=6).clean(typed)

    assert error.value.messages == ["Enter an amount between 0 and 999,999, with at most 6 decimal places."]
