"""Statements about the same thing that cannot both be true."""

from __future__ import annotations

import pytest

from studio.domain.checks.disagreement import find_disagreement
from studio.domain.checks.facts import facts, sentences_with_facts

FEE = "The harbour fee for small boats is {}."
COUNCIL = "The parish council meets in the old school {}."
LETTER = "Send the signed harbour letter to the parish council {}."
TALK = "The talk begins at {} in the old school."


@pytest.mark.parametrize(
    ("mine", "theirs", "about"),
    [
        (FEE.format("$40"), FEE.format("$30"), "40"),
        (FEE.format("40 euros"), FEE.format("30 euros"), "40"),
        (FEE.format("$40"), f"{FEE.format('$30')} A tent costs $40.", "40"),
        (FEE.format("$40 on Friday"), FEE.format("$30 on Friday"), "40"),
        (COUNCIL.format("on Friday"), COUNCIL.format("on Monday"), "Friday"),
        (LETTER.format("by Friday"), LETTER.format("by Monday"), "Friday"),
        (TALK.format("3 p.m."), TALK.format("4:00"), "3 p.m"),
        ("Mrs Brook keeps the key to the old shed.", "Mrs Green keeps the key to the old shed.", "Mrs Brook"),
        ("Ask Mrs Brook for the key.", "Ask Mr Brook for the key.", "Mrs Brook"),
        ("Only 4 small boats pay the harbour fee.", "Only 5 small boats pay the harbour fee.", "4"),
    ],
)
def test_another_value_of_the_same_thing_is_a_disagreement(mine: str, theirs: str, about: str) -> None:
    for of_a_file in (False, True):
        found = find_disagreement(mine, theirs, of_a_file=of_a_file)
        assert found is not None
        assert (found.mine, theirs.startswith(found.theirs)) == (about, True)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (FEE.format("$40"), FEE.format("€30")),
        (FEE.format("40 euros"), FEE.format("30 crowns")),
        (FEE.format("40 or 50 euros"), FEE.format("30 euros")),
        (FEE.format("40 euros"), FEE.format("30 or 20 euros")),
        (FEE.format("$40 on Friday"), FEE.format("$30 on Monday")),
        (COUNCIL.format("on Friday"), COUNCIL.format("on Monday or Tuesday")),
        (COUNCIL.format("on Friday or Saturday"), COUNCIL.format("on Monday")),
        (COUNCIL.format("on Friday"), f"{COUNCIL.format('on Monday')} The choir sings on Friday."),
        (LETTER.format("by Friday"), LETTER.format("from Monday")),
        (TALK.format("3 p.m."), TALK.format("15:00")),
        (TALK.format("12 p.m."), TALK.format("12:00")),
        ("Clause 4 names the harbour fee for small boats.", "Clause 5 names the harbour fee for small boats."),
        ("4 small boats pay the harbour fee.", "5 small boats pay the harbour fee."),  # numbers of a list
        ("The key is with Mrs Brook.", "The key is with Mrs Green."),
    ],
)
def test_another_unit_bound_day_or_label_is_none(mine: str, theirs: str) -> None:
    assert find_disagreement(mine, theirs) is None


def test_a_files_sentence_about_more_things_disagrees_with_nothing() -> None:
    long = FEE.format("30 euros")[:-1] + ", which the parish council decided after a long debate about moorings."

    assert find_disagreement(FEE.format("40 euros"), long) is not None
    assert find_disagreement(FEE.format("40 euros"), long, of_a_file=True) is None


def test_facts_are_read_once_each_by_their_most_telling_kind() -> None:
    text = "Meet at 3 p.m. on Monday, 4 May, at 12:30 pm or 0:15, on the 5th with Mrs Ada Brook’s cat and 40 euros."

    assert [(fact.kind, fact.value) for fact in facts(text)] == [
        ("time", "15:00"),
        ("day", "5-4"),
        ("time", "12:30"),
        ("time", "0:15"),
        ("day of the month", "5"),
        ("person", "Mrs Ada Brook"),
        ("number", "#40"),
    ]


def test_a_fact_stands_where_its_sentence_has_it() -> None:
    text = "It costs 40 euros. Nobody knows. She pays 30 euros on Friday."

    assert [
        (sentence, [sentence[fact.start : fact.end] for fact in own]) for sentence, own in sentences_with_facts(text)
    ] == [("It costs 40 euros.", ["40"]), ("She pays 30 euros on Friday.", ["30", "Friday"])]
