"""How apps search: words that begin words, titles first."""

from __future__ import annotations

import pytest

from evaluation.tools.apps.framework import matches, rank, search

NOTES = [("Lakeside", "river walk"), ("Bread", "by the lake"), ("Äpfel", ""), ("The lake", "bread")]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("lake", ["Lakeside", "Bread", "The lake"]),
        ("la br", ["Bread", "The lake"]),
        ("äp", ["Äpfel"]),
        ("walk RIVER", ["Lakeside"]),
        ("ake", []),
        ("!?", ["Lakeside", "Bread", "Äpfel", "The lake"]),
    ],
)
def test_every_word_begins_a_word_of_what_is_found(query: str, found: list[str]):
    assert [title for title, _ in search(query, NOTES, lambda note: note)] == found
    assert [note[0] for note in NOTES if matches(query, *note)] == found


def test_those_whose_first_text_holds_the_query_come_first():
    assert [title for title, _ in rank("lake", NOTES, lambda note: note)] == ["Lakeside", "The lake", "Bread"]
    assert rank(" ", NOTES, lambda note: note) == NOTES
