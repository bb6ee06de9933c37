"""Counting the requirements of a criterion."""

from __future__ import annotations

import pytest

from studio.domain.text.requirements import requirements


@pytest.mark.parametrize(
    "text",
    [
        "The letter gives the date and the place of the hearing.",
        "The tenant is told the new rent and offered a meeting.",
        "The limit is given as 3 hours and the fee as 40 dollars.",
        "The card asks for a gift and thanks Mrs Abbey.",
    ],
)
def test_two_requirements_are_counted(text: str) -> None:
    assert requirements(text).sure == 2


@pytest.mark.parametrize(
    "text",
    [
        "The letter explains the difference between the rent and the fee.",
        "The letter goes to Abbey and Sons.",
        "Terms and conditions apply from the first day.",
    ],
)
def test_and_within_one_requirement_does_not_split_it(text: str) -> None:
    assert requirements(text).sure == 1


def test_required_list_is_split_into_its_items() -> None:
    estimate = requirements("The talk covers exclusion zones, wind, hand signals and the emergency stop.")

    assert estimate.enumerated
    assert estimate.parts == ("exclusion zones", "wind", "hand signals", "the emergency stop")


def test_list_after_a_colon_is_split_into_its_items() -> None:
    estimate = requirements("It covers all three papers: the unsigned list, the sealed annex, and the receipt.")

    assert estimate.parts == ("the unsigned list", "the sealed annex", "the receipt")


@pytest.mark.parametrize(
    "text",
    [
        "It explains why the roof, the gutter, and the chimney matter to the buyer.",
        "It states that the defendants are Abbey, Brook, and Croft.",
    ],
)
def test_list_in_a_reason_or_fact_is_no_list_of_requirements(text: str) -> None:
    assert not requirements(text).enumerated
