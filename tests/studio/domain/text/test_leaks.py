"""Detection of what a text gives away."""

from __future__ import annotations

import pytest

from studio.domain.text.leaks import LONG, Leak, find_leak


def degree(demand: str, text: str) -> str | None:
    leak = find_leak(demand, text)
    return leak.degree if leak else None


@pytest.mark.parametrize(
    ("text", "demand"),
    [
        ("Name three candidates for the prize. No puns, please.", "Puns are not wanted."),
        ("Write the notice for the stairwell. Half a page at most.", "The notice is no longer than half a page."),
        ("Compare the two kilns for me and say which one to buy.", "The user is told which kiln to buy."),
        ("Set it up in the shared calendar, then delete the old entry.", "The old entry is removed from the calendar."),
    ],
)
def test_paraphrase_gives_the_demand_away(text: str, demand: str) -> None:
    assert degree(demand, text) == "wholly"


@pytest.mark.parametrize(
    ("text", "demand"),
    [
        ("Compare the two kilns for me in a table.", "Prices are given with tax."),
        ("Please write the report on the flood for the council.", "The report ends with what it would cost to wait."),
        ("Draft the menu for the harvest dinner, sixty guests.", "Leftovers go to the shelter on Mill Road."),
    ],
)
def test_same_topic_gives_nothing_away(text: str, demand: str) -> None:
    assert degree(demand, text) is None


def test_negation_makes_another_demand() -> None:
    assert degree("Pictures are used in the leaflet.", "Use pictures in the leaflet, and keep it short.") == "wholly"
    assert degree("No pictures are used in the leaflet.", "Use pictures in the leaflet, and keep it short.") is None


def test_negated_limit_equals_an_upper_limit() -> None:
    assert degree("No line has more than 90 letters.", "Every line has to fit into 90 letters.") == "wholly"


def test_source_is_the_telling_clause_not_the_whole_sentence() -> None:
    text = (
        "The parish council meets in the old school on Monday, the agenda is in agenda.md; please write the invitation,"
        " and leave out the budget."
    )

    leak = find_leak("Budget period left out of the invitation.", text)

    assert isinstance(leak, Leak)
    assert leak.source in text
    assert leak.source == "leave out the budget."
    assert len(leak.source) < LONG


def test_password_is_never_quoted() -> None:
    leak = find_leak("Three tasks are moved to the lambing board.", "My password is 'n3v=I[w' for the lambing board.")

    assert leak is not None
    assert "n3v" not in leak.source


def test_large_data_gives_nothing_away() -> None:
    text = '{"event": "x", "note": "y", "list": [' + '{"id": 1, "name": "chair"}, ' * 2_000 + "]}\n" + " " * 20_000

    assert degree("Chairs with arms come first.", text) is None
