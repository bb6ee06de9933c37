"""What people choose before something starts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field

from studio.domain.options import Options, OptionsError


class Order(Options):
    name: str
    size: int = Field(default=3, ge=1, le=9)
    limits: dict[str, float] = Field(default_factory=dict)


def test_what_is_blank_is_as_if_it_were_left_out():
    assert Order.read({"name": " a\0b ", "size": ""}) == Order.read({"name": "a\ufffdb", "size": None})
    assert Order.read({"name": "a", "size": ""}).size == 3


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"name": ""}, "name", "This is required."),
        ({"name": "a", "sise": 2}, "sise", "There is no such option."),
        ({"name": "a", "size": 10}, "size", "Choose at most 9."),
        ({"name": "a", "limits": {"cost": "much"}}, "limits", "cost: This should be a valid number"),
        ([], "", "This should be a valid dictionary or instance of Order."),
    ],
)
def test_the_first_invalid_choice_is_named(given: Any, field: str, message: str):
    with pytest.raises(OptionsError, match=message) as refused:
        Order.read(given)

    assert refused.value.field == field
