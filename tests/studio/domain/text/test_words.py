"""Words with their keys and weights, and which of them are alike."""

from __future__ import annotations

import pytest

from studio.domain.text.word_index import vocabulary, word_index
from studio.domain.text.words import similarity, words


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("nineteen", "#19"),
        ("forty-two", "#42"),
        ("ninety nine", "#99"),
        ("hundred", "#100"),
        ("two hundred", "#200"),
        ("eight hundred and fifty", "#850"),
        ("three thousand and five", "#3005"),
        ("thirty five hundred", "#3500"),
        ("1,200", "#1200"),
        ("1,200.50", "#1200.50"),
        ("1.5k", "#1500"),
        ("2 million", "#2000000"),
        ("12:00", "#12"),
        ("12:30", "#12:30"),
        ("7.0", "#7"),
        ("7.50", "#7.50"),
    ],
)
def test_a_number_is_known_by_its_value_however_it_is_written(text: str, key: str) -> None:
    [word] = words(text)

    assert (word.text, word.key, word.kind) == (text, key, "number")


@pytest.mark.parametrize(("text", "weight"), [("2", 0.6), ("two", 0.6), ("3", 1.2), ("three", 1.2), ("0", 0.6)])
def test_numbers_up_to_two_weigh_little_since_they_mean_many_things(text: str, weight: float) -> None:
    assert [word.weight for word in words(text)] == [weight]


def test_words_that_are_in_every_text_weigh_less_and_names_more() -> None:
    found = {word.text: word.weight for word in words("We see the far result of it. Ask See, whose kiln is red.")}

    assert {text: found[text] for text in ("We", "see", "far", "See", "kiln")} == {
        "We": 0.0, "see": 0.7, "far": 0.2, "See": 1.15, "kiln": 1.0,
    }  # fmt: skip


def test_a_capital_makes_a_name_but_where_a_sentence_opens() -> None:
    found = words("Harbours are open. Ask in Bergen. “Bergen” is far; see plan.md at 5 p.m.")

    kinds = {(word.text, word.kind): word.weight for word in found}
    assert kinds["Bergen", "name"] == 1.15 and kinds["Bergen", "word"] == 1.0
    assert ("Harbours", "word") in kinds and ("Ask", "word") in kinds
    assert kinds["plan.md", "file"] == 1.0 and kinds["p.m.", "word"] == 0.0


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("baker", "baker", 1.0),
        ("baker", "bakery", 0.9),
        ("garden", "gardening", 0.9),
        ("bake", "bakery", 0.0),  # too short to tell
        ("baker", "bakerstre", 0.0),  # too long an ending
        ("buy", "purchas", 0.8),
        ("buy", "garden", 0.0),
        ("#12345", "#12345", 1.0),
        ("#12345", "#123456", 0.0),
        ("#12345", "12345", 0.0),
    ],
)
def test_forms_of_a_word_and_synonyms_are_alike_and_numbers_only_if_they_are_equal(
    one: str, other: str, alike: float
) -> None:
    assert similarity(one, other) == similarity(other, one) == alike
    assert vocabulary(f"{one} ").has(one) == 1.0


@pytest.mark.parametrize(
    ("word", "share"), [("garden", 1.0), ("gardenias", 0.9), ("purchases", 0.8), ("12345", 1.0), ("123456", 0.0)]
)
def test_a_text_says_a_word_as_far_as_one_of_its_words_is_like_it(word: str, share: float) -> None:
    text = "Buy a garden.\nIt has 12345 stones.\nThe garden is green."
    has = vocabulary(text)
    [demand] = words(word)

    assert has.has(demand.key) == share
    assert has.share_of(vocabulary(word)) == pytest.approx(share)
    assert has.reaches(share, vocabulary(word)) and not has.reaches(share + 0.01, vocabulary(word))
    assert max(word_index(text).of(demand.key).values(), default=0.0) == share


def test_a_word_is_found_in_each_sentence_that_has_it_or_one_like_it() -> None:
    index = word_index("Buy a garden.\nIt is green.\nA purchase of gardens and 12345 stones.")

    assert index.of("garden") == {0: 1.0, 2: 1.0}
    assert index.of("gardenin") == {0: 0.9, 2: 0.9}
    assert index.of("purchas") == {0: 0.8, 2: 1.0}
    for other in ("gardes", "gardenings"):  # another word, and too long an ending
        assert index.of(other) == {} and vocabulary("Buy a garden.").has(other) == 0.0
    assert (index.of("#12345"), index.of("#1234567"), index.has("green"), index.has("red")) == (
        {2: 1.0},
        {},
        True,
        False,
    )


def test_of_a_demand_without_words_everything_is_said_and_nothing_of_it() -> None:
    assert vocabulary("Buy a garden.").share_of(vocabulary("it is")) == 0.0
    assert vocabulary("x").reaches(0.0, vocabulary("it is")) and not vocabulary("x").reaches(0.1, vocabulary("it is"))
