"""How much of a demand a text says, and where."""

from __future__ import annotations

import pytest

from studio.domain.text.coverage import coverage

DEMAND = "The kiln is red and costs nine crowns."


def test_each_clause_is_measured_where_it_is_said_best_not_last() -> None:
    found = coverage("The kiln costs nine crowns.", "The kiln costs nine crowns. A kiln is hot. Crowns are old.")

    [clause] = found.clauses
    assert (clause.said, clause.best_match.text) == (1.0, "The kiln costs nine crowns.")
    assert (found.near, found.at_once, found.together, found.missing) == (1.0, 1.0, 1.0, ())


def test_two_sentences_beside_each_other_say_a_clause_together_and_three_the_demand() -> None:
    found = coverage(DEMAND, "The kiln costs money. It is nine crowns. Trees grow. Red ones are rare.")

    [clause] = found.clauses
    assert clause.best_match.text == "The kiln costs money. It is nine crowns."
    assert found.together == 1.0
    assert found.at_once < clause.said == found.near < 1.0
    assert found.said == {DEMAND.index(word) for word in ("kiln", "red", "costs", "nine", "crowns")}


def test_what_is_missing_is_named_facts_as_they_are_written() -> None:
    found = coverage("The kiln costs 9 crowns and is called “Old  Smoky”.", "The kiln costs much.")

    assert [word.text for word in found.missing if word.text in ("kiln", "9", "crowns")] == ["9", "crowns"]
    assert found.missing_facts == ("9", "old smoky")
    assert coverage("It is called “Old Smoky”.", "OLD\nsmoky is its name.").missing_facts == ()


def test_words_of_the_topic_weigh_half_and_contrasts_and_examples_less() -> None:
    plain = coverage(DEMAND, "").weights
    topic = coverage(DEMAND, "", frozenset({"kiln"})).weights

    assert topic[4] == pytest.approx(plain[4] / 2)
    assert {start: weight for start, weight in topic.items() if start != 4} == {
        start: weight for start, weight in plain.items() if start != 4
    }
    aside = "List the tools, such as hammers and saws."
    assert coverage(aside, "").weights[aside.index("hammers")] == pytest.approx(0.3)


def test_a_text_that_says_nothing_of_it_has_no_place_where_it_does() -> None:
    found = coverage(DEMAND, "Trees grow.")

    assert (found.near, found.at_once, found.together, found.said) == (0.0, 0.0, 0.0, frozenset())
    assert found.clauses[0].best_match.text == ""
    assert coverage("", "Trees grow.").near == 0.0
