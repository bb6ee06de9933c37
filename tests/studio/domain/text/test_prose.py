"""Sentences and clauses, days, quotations, negation, and data within prose."""

from __future__ import annotations

import pytest

from studio.domain.checks.quotes import join_with_and, quote
from studio.domain.text.back_references import named_facts
from studio.domain.text.clauses import clauses, quoted, sentences
from studio.domain.text.dates import find_days
from studio.domain.text.prose import is_negative, without_data

LINE = "Ask Mr. Li at 5 p.m. today. See a.md!  Then go, and then stop; or so: yes - no\nHe said “now.” So be it."


def test_sentences_end_where_they_do_and_not_at_every_full_stop() -> None:
    assert [span.text for span in sentences(LINE)] == [
        "Ask Mr. Li at 5 p.m. today.",
        "See a.md!",
        "Then go, and then stop; or so: yes - no",
        "He said “now.”",
        "So be it.",
    ]


def test_clauses_are_parts_of_sentences() -> None:
    found = [span.text for span in clauses(LINE)]

    assert found[2:7] == ["Then go", "and then stop", "or so", "yes", "no"]


@pytest.mark.parametrize("split", [sentences, clauses, quoted, named_facts])
def test_every_span_stands_where_it_says(split) -> None:
    text = f"  {LINE} Ask “Old Smoky X” at The Harbour Office, or ada@b.org about 12345. "

    found = split(text)

    assert found and all(text[span.start : span.end] == span.text == span.text.strip() for span in found)


def test_quotations_are_told_from_apostrophes() -> None:
    assert [span.text for span in quoted("He said “now” and \"then\" or 'don't' `x`, as the Smiths' dog's.")] == [
        "now", "then", "don't", "x",
    ]  # fmt: skip


def test_names_of_several_words_addresses_long_numbers_and_quotations_cannot_be_guessed() -> None:
    text = "Ask The Harbour Office or ada@b.org about 12345 and “Old Smoky” in Bergen, 123 times. The Office is shut."

    assert {span.text for span in named_facts(text)} == {
        "Ask The Harbour Office", "ada@b.org", "12345", "Old Smoky",
    }  # fmt: skip


def test_days_are_read_in_every_way_they_are_written() -> None:
    text = "On Monday, 4 May 2026, May 5th, the 6th of May and 2026-05-07; not 32 May, 2026-13-01 or 12026-05-071."

    assert [(day.day, day.month, day.year, day.weekday) for day in find_days(text)] == [
        (4, 5, 2026, 0),
        (5, 5, 0, -1),
        (6, 5, 0, -1),
        (7, 5, 2026, -1),
    ]
    assert [day.falls_on(2026) for day in find_days("4 May and 30 February")] == [0, None]
    assert [text[day.span.start : day.span.end] for day in find_days(text)][:2] == ["Monday, 4 May 2026", "May 5th"]


@pytest.mark.parametrize(
    ("text", "negative"),
    [
        ("Pictures are used.", False),
        ("No pictures are used.", True),
        ("It’s not used.", True),
        ("It never ends.", True),
        ("No more than two are used.", False),
        ("The budget is left out.", True),
        ("The budget is left as it is.", False),
    ],
)
def test_what_must_not_be_is_negative(text: str, negative: bool) -> None:
    assert is_negative(text) is negative


LONG = "it is said to be long enough, yes"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f'Here: {{"a": 1, "b": "{LONG}", "c": "x"}} end', ["Here:", *LONG.split(), "end"]),
        ('{"a": 1, "b": 2, "c": "red, green, blue, black, white, brown"} end', ["end"]),
        ('{"a": 1, "b": 2, "c": "it is of no use"} end', ["end"]),
        ('{"a": 1, "b": 2} end', ['{"a":', "1,", '"b":', "2}", "end"]),
        ('} "a": 1, "b": 2, "c": 3 {', '} "a": 1, "b": 2, "c": 3 {'.split()),
        ('"a": 1, "b": 2, "c": 3', '"a": 1, "b": 2, "c": 3'.split()),
        ('My password is "n3v=I[w" for it.', ["My", "password", "is", '"', '"', "for", "it."]),
        ('My password is "n3v=I[w"', ["My", "password", "is", '"', '"']),
    ],
)
def test_data_and_passwords_are_blank_and_all_else_is_where_it_was(text: str, left: list[str]) -> None:
    blank = without_data(text)

    assert (len(blank), blank.split()) == (len(text), left)
    assert all(now in (was, " ") for was, now in zip(text, blank, strict=True))


def test_a_quotation_is_one_line_cut_between_words() -> None:
    assert quote("It is so.  \n Yes ;") == "“It is so. Yes”"
    assert quote("word " * 40, 22) == "“word word word word …”"
    assert quote("x" * 22, 22) == f"“{'x' * 22}”"
    assert [join_with_and(parts) for parts in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
