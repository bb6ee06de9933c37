"""Credit rules, also by their properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.grading.credit import (
    SAMPLE_RULES,
    TURN_RULES,
    Credit,
    CreditRule,
    any_turn,
    default_rules,
    last_turn,
    majority,
)
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName

VALUES = st.lists(st.sampled_from([True, False, None]), max_size=8).map(lambda rows: list(enumerate(rows, start=1)))
CREDITS = st.lists(
    st.builds(
        lambda value, turn: Credit(value, turn if value else None),
        st.sampled_from([True, False, None]),
        st.integers(1, 9),
    ),
    max_size=7,
)


@pytest.mark.parametrize(
    ("values", "any_", "last"),
    [
        ([(1, False), (2, True), (3, False)], Credit(True, 2), Credit(False, regressed=True)),
        ([(1, False), (2, False)], Credit(False), Credit(False)),
        ([(1, None), (2, True)], Credit(True, 2), Credit(True, 2)),
        ([(1, None), (2, False)], Credit(None), Credit(False)),
        ([(1, True), (2, None)], Credit(True, 1), Credit(None)),
        ([], Credit(None), Credit(None)),
    ],
)
def test_item_is_met_by_any_turn_or_by_the_last(values, any_: Credit, last: Credit):
    assert (any_turn(values), last_turn(values)) == (any_, last)


@given(VALUES)
def test_any_turn_is_met_exactly_if_a_turn_is_and_names_the_first(values):
    met = [turn for turn, value in values if value]

    assert any_turn(values) == (Credit(True, met[0]) if met else any_turn(values))
    assert (any_turn(values).value is True) == bool(met)


@given(VALUES, VALUES)
def test_later_turns_never_take_credit_back_unless_the_last_turn_decides(values, later):
    longer = values + [(len(values) + turn, value) for turn, value in later]
    if any_turn(values).value:
        assert any_turn(longer) == any_turn(values)
    if later:
        assert last_turn(longer).value == later[-1][1]


@given(VALUES)
def test_what_is_judged_after_the_first_credit_does_not_matter_to_strict(values):
    met = next((position for position, (_, value) in enumerate(values) if value), len(values))

    assert any_turn(values[: met + 1]) == any_turn(values)


@given(CREDITS)
def test_majority_is_more_than_half_of_those_that_decided(credits):
    yes = sum(credit.value is True for credit in credits)
    decided = sum(credit.value is not None for credit in credits)

    merged = majority(credits)

    assert merged.value == (None if not decided else yes * 2 > decided)
    if merged.value:
        met_by_then = sum(bool(credit.value) and (credit.turn or 0) <= (merged.turn or 0) for credit in credits)
        assert met_by_then * 2 > decided


@given(CREDITS, st.randoms())
def test_majority_does_not_depend_on_the_order_of_samples(credits, random):
    shuffled = list(credits)
    random.shuffle(shuffled)

    assert majority(shuffled) == majority(credits)


@given(VALUES, st.sampled_from(sorted(TURN_RULES)), st.integers(1, 5))
def test_equal_samples_come_to_what_one_comes_to(values, turns: str, number: int):
    for samples in SAMPLE_RULES:
        rule = CreditRule(turns, samples)
        assert rule.credit([values] * number) == rule.credit([values]) == TURN_RULES[turns].over_turns(values)


def test_what_was_met_and_no_longer_is_has_regressed():
    assert last_turn([(1, True), (2, False)]) == Credit(False, regressed=True)
    assert last_turn([(1, False), (2, False)]) == Credit(False)
    assert last_turn([(1, True), (2, None)]) == Credit(None)


def test_defaults_follow_the_protocol():
    release, paper = default_rules(ProtocolName.RELEASE), default_rules(ProtocolName.PAPER)

    assert release[ScoringMode.COMPAT].turns == "any_turn"
    assert release[ScoringMode.STRICT].turns == "first_credited"
    assert paper[ScoringMode.STRICT].turns == "last_turn"
