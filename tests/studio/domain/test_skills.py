"""What a skill's text says the skill is for."""

from __future__ import annotations

import pytest

from studio.domain.skills import one_line_description, text_below_head


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("---\nname: x\ndescription: >-\n  Reads\n  PDFs.\n---\n# X\n", "Reads PDFs."),
        ("# Reader\n\nReads PDFs,\neven long ones.\n\nMore.", "Reads PDFs, even long ones."),
        ("---\n[broken\n---\nReads PDFs.", "Reads PDFs."),
        ("---\ndescription: Use: it\n---\n# X\n", "Use: it"),
        ("\ufeff---\r\ndescription: Bakes.\r\n---\r\n# X\r\n", "Bakes."),
        ("# Only a title", ""),
        ("", ""),
    ],
)
def test_a_skill_says_what_it_is_for(text, function):
    assert one_line_description(text) == function


def test_a_skill_of_many_words_is_cut():
    assert len(one_line_description("word " * 10_000)) < 310


def test_the_head_is_no_part_of_what_is_read():
    assert text_below_head("---\nname: x\n---\n# Rye\n") == "# Rye\n"
    assert text_below_head("# Rye\n---\nmore\n---\n") == "# Rye\n---\nmore\n---\n"
