from __future__ import annotations

from evaluation.workspaces.web_corpus import LONG, snippet_of

FILLER = "Nothing of interest stands here, only words in a row. " * 40


def test_snippet_shows_where_most_of_the_words_are_near_each_other():
    text = f"{FILLER}A permit is a paper. {FILLER}The city says what a building permit costs. {FILLER}"

    assert "city says what a building permit costs." in snippet_of(text, {"build", "permit", "cost"})


def test_second_piece_has_words_that_the_first_lacks():
    snippet = snippet_of(f"{FILLER}The permit. {FILLER}All cities agree. {FILLER}", {"permit", "citi"})

    first, second = snippet.split(" … ")
    assert "The permit." in first
    assert "All cities agree." in second


def test_page_that_has_the_words_only_in_its_title_shows_its_beginning():
    assert snippet_of(FILLER, {"permit"}).startswith("Nothing of interest")
    assert snippet_of("short", set()) == "short"
    assert snippet_of("", {"permit"}) == ""


def test_words_without_spaces_are_cut():
    assert len(snippet_of("x" * 10_000, {"x"})) <= LONG
