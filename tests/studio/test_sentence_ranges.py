"""Sentences that scripts step through end where the checks' sentences do."""

import pytest

from studio.templatetags.studio_ui import sentence_ranges


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("See order_4b.md exists. Then go!", ["See order_4b.md exists.", "Then go!"]),
        ("Dr. Ode pays 4.50 euros.\r\nHe left.", ["Dr. Ode pays 4.50 euros.", "He left."]),
        ("😀 Yes. No.", ["😀 Yes.", "No."]),
        ("", []),
    ],
)
def test_ranges_are_those_of_whole_sentences_in_javascript_units(text: str, sentences: list[str]) -> None:
    units = text.replace("\r\n", "\n").encode("utf-16-le")
    ranges = [pair.split("-") for pair in sentence_ranges(text).split()]

    assert [units[2 * int(start) : 2 * int(end)].decode("utf-16-le") for start, end in ranges] == sentences
