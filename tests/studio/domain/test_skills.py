"""Descriptions in skills."""

from __future__ import annotations

import pytest

from studio.domain.skills import one_line_description, text_below_head


@pytest.mark.parametrize(
    ("text", "description"),
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
def test_description_is_found_in_head_or_first_paragraph(text, description):
    assert one_line_description(text) == description


def test_long_description_is_shortened():
    assert len(one_line_description("word " * 10_000)) < 310


def test_text_below_head_excludes_the_head():
    assert text_below_head("---\nname: x\n---\n# Rye\n") == "# Rye\n"
    assert text_below_head("# Rye\n---\nmore\n---\n") == "# Rye\n---\nmore\n---\n"
