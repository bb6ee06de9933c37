"""What a sentence allows."""

from __future__ import annotations

import pytest

from studio.domain.checks.facts import conflicting_limits, limits

ENDLESS = 10**9


@pytest.mark.parametrize(
    ("phrase", "low", "high"),
    [
        ("exactly 200", 200, 200),
        *[
            (f"{words} 200", 0, 200)
            for words in (
                "at most", "no more than", "not more than", "maximum", "max.", "up to", "under", "fewer than",
                "less than", "no longer than", "not longer than", "shorter than",
            )
        ],
        *[
            (f"{words} 200", 200, ENDLESS)
            for words in ("at least", "no fewer than", "minimum of", "more than", "over", "longer than")
        ],
    ],
)  # fmt: skip
def test_words_before_a_number_say_which_bound_it_is(phrase: str, low: int, high: int):
    [limit] = limits(f"The letter has {phrase} words.")

    assert (limit.noun, limit.low, limit.high) == ("word", low, high)


def test_bound_is_the_other_one_after_none():
    [limit] = limits("None of the letters has more than 200 words.")

    assert (limit.low, limit.high) == (0, 200)


def test_bounds_that_no_text_can_keep_conflict():
    assert conflicting_limits("No longer than 200 words.", "At least 300 words.") == (
        "No longer than 200 words",
        "At least 300 words",
    )
    assert conflicting_limits("No longer than 300 words.", "At least 200 words.") is None
