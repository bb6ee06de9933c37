"""Passages are located after edits, and never confused with others."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from studio.domain.anchors import Anchor, Quote, QuoteSpan, find_quote, locate, quotable_texts, quote_at, replace_text
from tests.factories import a_task_spec

TEXT = "The rye goes in first. The rolls go in at six, and the rye comes out at seven."
letters = st.text(alphabet="ab \n", max_size=30)
anything = st.text(max_size=60)


def quote_of(text: str, passage: str, nth: int = 0) -> Quote:
    start = -1
    for _ in range(nth + 1):
        start = text.index(passage, start + 1)
    return quote_at(text, start, start + len(passage))


def located_text(quote: Quote, text: str, origin: str | None = TEXT) -> str | None:
    span = find_quote(quote, text, origin)
    return text[span.start : span.end] if span else None


@st.composite
def selections(draw, texts=letters):
    text = draw(texts.filter(bool))
    start = draw(st.integers(0, len(text) - 1))
    return text, start, draw(st.integers(start + 1, len(text)))


@pytest.mark.slow
@given(selections(letters | anything), letters | anything, st.data())
def test_single_edit_elsewhere_never_loses_the_passage(selection, typed, data):
    text, start, end = selection
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


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 500), min_size=3, max_size=30, unique=True),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1000, 1500)), max_size=12, unique_by=lambda edit: edit[1]),
    st.data(),
)
def test_many_edits_elsewhere_neither_lose_nor_misplace_the_passage(numbers, edits, data):
    """All words of the texts differ, so the expected position is known."""
    before = [f"w{number}" for number in numbers]
    first = data.draw(st.integers(0, len(before) - 1))
    last = data.draw(st.integers(first, len(before) - 1))
    after = list(before)
    for at, number in edits:
        if at < len(after) and after[at] in before and not first <= before.index(after[at]) <= last:
            after[at : at + 1] = [] if number % 3 == 0 else [f"n{number}", *([after[at]] if number % 3 == 1 else [])]
    text, edited = " ".join(before), " ".join(after)
    start = len(" ".join(before[:first])) + (1 if first else 0)
    passage = " ".join(before[first : last + 1])

    span = find_quote(quote_at(text, start, start + len(passage)), edited, text)

    assert span is not None and not span.changed
    assert edited[span.start : span.end] == passage


@given(selections(), letters)
def test_span_in_another_text_is_identical_or_marked_as_changed(selection, other):
    text, start, end = selection

    span = find_quote(quote_at(text, start, end), other, text)

    assert span is None or span.changed or other[span.start : span.end] == text[start:end]


@pytest.mark.slow
@given(selections(anything), anything)
def test_without_the_original_text_the_context_decides(selection, before):
    text, start, end = selection
    quote = quote_at(text, start, end)
    assume(len(text) > 8)

    assert find_quote(quote, text) is not None
    span = find_quote(quote, before + text)
    assert span is None or (before + text)[span.start : span.end] == text[start:end]


def test_second_occurrence_stays_the_second_and_goes_with_it():
    second = quote_of(TEXT, "rye", 1)

    assert find_quote(second, f"Listen. {TEXT}", TEXT) == QuoteSpan(second.start + 8, second.start + 11)
    assert find_quote(second, TEXT.replace("The rye goes", "It goes").replace("first.", "first!"), TEXT) == QuoteSpan(
        50, 53
    )
    assert located_text(second, TEXT.replace("the rye comes", "it comes").replace("six", "five")) is None


def test_passage_follows_a_sentence_that_moves():
    first, rest = TEXT[:23], TEXT[23:]

    assert (
        located_text(quote_of(TEXT, "The rye goes in first."), f"{rest} {first} So it is.") == "The rye goes in first."
    )


def test_edited_passage_is_located_as_changed():
    quote = quote_of(TEXT, "The rye goes in first")

    span = find_quote(quote, TEXT.replace("rye goes in", "dark rye goes in always"), TEXT)

    assert span is not None and span.changed
    assert (
        located_text(quote, TEXT.replace("rye goes in", "dark rye goes in always"))
        == "The dark rye goes in always first"
    )
    assert located_text(quote, "Something else altogether, at six.") is None


@pytest.mark.parametrize("text", ["", "\n", "ryebread and therye", "🥖" * 50])
def test_passage_is_gone_from_a_text_without_it(text):
    assert find_quote(quote_of(TEXT, "rye"), text, TEXT) is None


def test_wrong_position_of_a_quote_is_ignored():
    assert located_text(Quote("rolls", "The ", " go", 999), TEXT) == "rolls"
    assert find_quote(Quote("", "", "", 0), TEXT, TEXT) is None


def spec(**rows: str):
    """Content of intents by uid: ``a="text"``."""
    base = a_task_spec()
    intent = base.intents[0]
    return base.model_copy(
        update={"intents": tuple(intent.model_copy(update={"uid": uid, "content": text}) for uid, text in rows.items())}
    )


def locate_in_intent(uid: str, passage: str, old, new) -> Anchor:
    before = quotable_texts(old.to_json())
    quote = quote_of(before[("intents", uid)], passage) if passage else None
    return locate(("intents", uid), quote, quotable_texts(new.to_json()), before)


def test_comment_follows_a_row_that_moves():
    old, new = spec(a="Salt is short.", b="Rye is not."), spec(b="Rye is not.", a="Salt is very short.")

    assert locate_in_intent("a", "", old, new) == Anchor("intents", "a")
    assert locate_in_intent("a", "Salt", old, new) == Anchor("intents", "a", "here", QuoteSpan(0, 4))


def test_comment_on_a_split_row_follows_the_passage():
    old = spec(a="Salt is short. Rye is not.")
    new = spec(a="Salt is short.", b="Rye is not.")

    assert locate_in_intent("a", "Rye is", old, new) == Anchor("intents", "b", "here", QuoteSpan(0, 6))
    assert locate_in_intent("a", "Salt", old, new) == Anchor("intents", "a", "here", QuoteSpan(0, 4))


def test_comment_on_a_joined_row_moves_to_the_other_row():
    old = spec(a="Salt is short.", b="Rye is not.")
    new = spec(a="Salt is short. Rye is not.")

    assert locate_in_intent("b", "not", old, new) == Anchor("intents", "a", "here", QuoteSpan(22, 25))
    assert locate_in_intent("b", "", old, new) == Anchor("intents", "a")


def test_comment_on_a_removed_row_is_gone():
    old, new = spec(a="Salt is short.", b="Rye is not."), spec(a="Salt is short.")

    assert locate_in_intent("b", "", old, new) == Anchor("intents", "b", "gone")
    assert locate_in_intent("b", "Rye", old, new) == Anchor("intents", "b", "gone")


def test_replacing_a_text_changes_nothing_else():
    spec = a_task_spec(expected_artifacts=("plan.md",))

    for key in quotable_texts(spec.to_json()):
        changed = replace_text(spec, key, "One\nTwo")
        texts = quotable_texts(changed.to_json())
        assert texts == quotable_texts(spec.to_json()) | {key: "One Two" if key[0] == "title" else "One\nTwo"}
