"""Rows that say what an earlier one says."""

from __future__ import annotations

import pytest

from studio.domain.checks.repetition import find_repeats

NAMED = "The letter names the fee."


@pytest.mark.parametrize(
    ("texts", "repeats"),
    [
        ([NAMED, "the letter  names the fee"], [(2, 1, True)]),
        ([NAMED, "The fee is named in the letter."], [(2, 1, False)]),
        (["Sign it.", NAMED, "The fee is named in the letter.", NAMED], [(3, 2, False), (4, 2, True)]),
        ([NAMED, "The letter does not name the fee."], []),
        (["Send it before the fee is paid.", "The fee is paid before it is sent."], []),
        (["The letter from Ada names the fee.", "Ada names the fee in the letter."], []),
        (["Ada names the fee in the letter.", "The letter from Ada names the fee."], []),
        (["Fees", "fee"], []),  # of one word it cannot be told
        (["", " ", "."], []),
    ],
)
def test_a_row_repeats_the_first_that_says_the_same_word_for_word_or_not(
    texts: list[str], repeats: list[tuple[int, int, bool]]
) -> None:
    assert list(find_repeats(texts)) == repeats
