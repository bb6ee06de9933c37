"""How many things a criterion asks for, and which ones."""

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
def test_two_things_with_a_word_of_their_own_are_two(text: str) -> None:
    assert requirements(text).sure == 2


@pytest.mark.parametrize(
    "text",
    [
        "The letter explains the difference between the rent and the fee.",
        "The letter goes to Abbey and Sons.",
        "Terms and conditions apply from the first day.",
    ],
)
def test_one_thing_with_an_and_in_it_is_one(text: str) -> None:
    assert requirements(text).sure == 1


def test_what_is_to_be_listed_is_named_one_by_one() -> None:
    found = requirements("The talk covers exclusion zones, wind, hand signals and the emergency stop.")

    assert found.enumerated
    assert found.parts == ("exclusion zones", "wind", "hand signals", "the emergency stop")


def test_things_after_a_colon_keep_all_their_words() -> None:
    found = requirements("It covers all three papers: the unsigned list, the sealed annex, and the receipt.")

    assert found.parts == ("the unsigned list", "the sealed annex", "the receipt")


@pytest.mark.parametrize(
    "text",
    [
        "It explains why the roof, the gutter, and the chimney matter to the buyer.",
        "It states that the defendants are Abbey, Brook, and Croft.",
    ],
)
def test_a_reason_or_a_fact_about_several_things_is_no_list_of_demands(text: str) -> None:
    assert not requirements(text).enumerated
