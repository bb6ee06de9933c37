"""Statuses of intents that decisions come to in a conversation as it was held."""

from __future__ import annotations

import pytest

from evaluation.grading.intents import IntentStatus, derive_statuses

HELD = {
    1: IntentStatus("completed", 1),
    2: IntentStatus("inferred", 2),
    3: IntentStatus("provided", 3),
    4: IntentStatus("provided", 0),
}
AS_HELD = [
    ("satisfaction", 1, 1, True),
    ("satisfaction", 1, 2, False),
    ("follow_up", 1, 2, False),
    ("satisfaction", 2, 2, False),
    ("follow_up", 2, 2, True),
    ("satisfaction", 3, 3, False),
    ("follow_up", 3, 3, False),
]


def test_the_same_decisions_give_the_statuses_of_the_conversation():
    assert derive_statuses(HELD, AS_HELD) == HELD


@pytest.mark.parametrize(
    ("decision", "index", "status"),
    [
        (("satisfaction", 1, 2, True), 2, IntentStatus("completed", 1)),
        (("follow_up", 1, 3, True), 3, IntentStatus("inferred", 1)),
        (("satisfaction", 3, 3, True), 3, IntentStatus("completed", 3)),
        (("satisfaction", 3, 2, True), 2, IntentStatus("inferred", 2)),  # the user had said it by then
        (("satisfaction", 1, 4, True), 4, IntentStatus("provided", 0)),
    ],
)
def test_a_yes_counts_until_the_user_said_it(decision, index: int, status: IntentStatus):
    assert derive_statuses(HELD, [*AS_HELD, decision])[index] == status


def test_what_is_neither_met_nor_said_stays_open():
    assert 1 not in derive_statuses(HELD, AS_HELD[1:])
    assert derive_statuses(HELD, [row for row in AS_HELD if not row[3]])[2] == IntentStatus("provided", 2)
