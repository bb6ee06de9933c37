"""Words are found again after edits elsewhere, and never taken for other words."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from studio.domain.anchors import Anchor, Quote, QuoteSpan, find_quote, locate, quotable_texts, quote_at, replace_text
from tests.factories import a_task_spec

TEXT = "The rye goes in first. The rolls go in at six, and the rye comes out at seven."
letters = st.text(alphabet="ab \n", max_size=30)
anything = st.text(max_size=60)


def chosen(text: str, words: str, nth: int = 0) -> Quote:
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    return quote_at(text, start, start + len(words))


def said(wanted: Quote, text: str, origin: str | None = TEXT) -> str | None:
    span = find_quote(wanted, text, origin)
    return text[span.start : span.end] if span else None


@st.composite
def a_choice(draw, texts=letters):
    text = draw(texts.filter(bool))
    start = draw(st.integers(0, len(text) - 1))
    return text, start, draw(st.integers(start + 1, len(text)))


@given(a_choice(letters | anything), letters | anything, st.data())
def test_one_edit_elsewhere_never_loses_the_words(chosen_words, typed, data):
    text, start, end = chosen_words
    if data.draw(st.booleans()):
        a = data.draw(st.integers(0, start))
        b = data.draw(st.integers(a, start))
        expected = start + len(typed) - (b - a)
    else:
        a = data.draw(st.integers(end, len(text)))
        b = data.draw(st.integers(a, len(text)))
        expected = start
    edited = text[:a] + typed + text[b:]

    span = find_quote(quote_at(text, start, end), edited, text)

    assert span is not None and not span.changed
    assert edited[span.start : span.end] == text[start:end]
    if edited.count(text[start:end]) == 1:
        assert span.start == expected


@given(
    st.lists(st.integers(0, 500), min_size=3, max_size=30, unique=True),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1000, 1500)), max_size=12, unique_by=lambda edit: edit[1]),
    st.data(),
)
def test_many_edits_elsewhere_neither_lose_the_words_nor_move_them_to_others(numbers, edits, data):
    """Texts whose words are all different, so that it can be said where the chosen ones went."""
    before = [f"w{number}" for number in numbers]
    first = data.draw(st.integers(0, len(before) - 1))
    last = data.draw(st.integers(first, len(before) - 1))
    after = list(before)
    for at, number in edits:
        if at < len(after) and after[at] in before and not first <= before.index(after[at]) <= last:
            after[at : at + 1] = [] if number % 3 == 0 else [f"n{number}", *([after[at]] if number % 3 == 1 else [])]
    text, edited = " ".join(before), " ".join(after)
    start = len(" ".join(before[:first])) + (1 if first else 0)
    words = " ".join(before[first : last + 1])

    span = find_quote(quote_at(text, start, start + len(words)), edited, text)

    assert span is not None and not span.changed
    assert edited[span.start : span.end] == words


@given(a_choice(), letters)
def test_what_is_found_in_any_other_text_says_the_same_or_is_said_to_have_changed(chosen_words, other):
    text, start, end = chosen_words

    span = find_quote(quote_at(text, start, end), other, text)

    assert span is None or span.changed or other[span.start : span.end] == text[start:end]


@given(a_choice(anything), anything)
def test_without_the_text_they_were_chosen_in_the_neighbours_decide(chosen_words, before):
    text, start, end = chosen_words
    wanted = quote_at(text, start, end)
    assume(len(text) > 8)

    assert find_quote(wanted, text) is not None
    span = find_quote(wanted, before + text)
    assert span is None or (before + text)[span.start : span.end] == text[start:end]


def test_the_second_of_two_stays_the_second_and_is_gone_with_it():
    second = chosen(TEXT, "rye", 1)

    assert find_quote(second, f"Listen. {TEXT}", TEXT) == QuoteSpan(second.start + 8, second.start + 11)
    assert find_quote(second, TEXT.replace("The rye goes", "It goes").replace("first.", "first!"), TEXT) == QuoteSpan(
        50, 53
    )
    assert said(second, TEXT.replace("the rye comes", "it comes").replace("six", "five")) is None


def test_words_go_with_a_sentence_that_moves():
    first, rest = TEXT[:23], TEXT[23:]

    assert said(chosen(TEXT, "The rye goes in first."), f"{rest} {first} So it is.") == "The rye goes in first."


def test_words_that_were_edited_themselves_are_what_became_of_them():
    wanted = chosen(TEXT, "The rye goes in first")

    span = find_quote(wanted, TEXT.replace("rye goes in", "dark rye goes in always"), TEXT)

    assert span is not None and span.changed
    assert said(wanted, TEXT.replace("rye goes in", "dark rye goes in always")) == "The dark rye goes in always first"
    assert said(wanted, "Something else altogether, at six.") is None


@pytest.mark.parametrize("text", ["", "\n", "ryebread and therye", "🥖" * 50])
def test_they_are_gone_where_nothing_says_them(text):
    assert find_quote(chosen(TEXT, "rye"), text, TEXT) is None


def test_a_quote_that_is_not_what_the_text_said_is_looked_for_without_it():
    assert said(Quote("rolls", "The ", " go", 999), TEXT) == "rolls"
    assert find_quote(Quote("", "", "", 0), TEXT, TEXT) is None


def spec(**rows: str):
    """Intents named by their letters: ``a="words"``."""
    base = a_task_spec()
    intent = base.intents[0]
    return base.model_copy(
        update={"intents": tuple(intent.model_copy(update={"uid": uid, "content": text}) for uid, text in rows.items())}
    )


def placed(uid: str, words: str, old, new) -> Anchor:
    before = quotable_texts(old.to_json())
    wanted = chosen(before[("intents", uid)], words) if words else None
    return locate(("intents", uid), wanted, quotable_texts(new.to_json()), before)


def test_a_row_keeps_its_remarks_when_it_moves():
    old, new = spec(a="Salt is short.", b="Rye is not."), spec(b="Rye is not.", a="Salt is very short.")

    assert placed("a", "", old, new) == Anchor("intents", "a")
    assert placed("a", "Salt", old, new) == Anchor("intents", "a", "here", QuoteSpan(0, 4))


def test_a_row_that_was_split_gives_its_words_to_the_half_that_says_them():
    old = spec(a="Salt is short. Rye is not.")
    new = spec(a="Salt is short.", b="Rye is not.")

    assert placed("a", "Rye is", old, new) == Anchor("intents", "b", "here", QuoteSpan(0, 6))
    assert placed("a", "Salt", old, new) == Anchor("intents", "a", "here", QuoteSpan(0, 4))


def test_a_row_that_was_joined_to_another_gives_it_its_remarks():
    old = spec(a="Salt is short.", b="Rye is not.")
    new = spec(a="Salt is short. Rye is not.")

    assert placed("b", "not", old, new) == Anchor("intents", "a", "here", QuoteSpan(22, 25))
    assert placed("b", "", old, new) == Anchor("intents", "a")


def test_a_row_that_was_removed_says_so():
    old, new = spec(a="Salt is short.", b="Rye is not."), spec(a="Salt is short.")

    assert placed("b", "", old, new) == Anchor("intents", "b", "gone")
    assert placed("b", "Rye", old, new) == Anchor("intents", "b", "gone")


def test_a_text_is_changed_where_it_stands_and_nowhere_else():
    spec = a_task_spec(expected_artifacts=("plan.md",))

    for where in quotable_texts(spec.to_json()):
        changed = replace_text(spec, where, "One\nTwo")
        now = quotable_texts(changed.to_json())
        assert now == quotable_texts(spec.to_json()) | {where: "One Two" if where[0] == "title" else "One\nTwo"}
