"""What a call or record must have, as authors write it."""

from __future__ import annotations

from typing import Any

import pytest

from studio.domain.rule_values import ValuesError, read_values, write_values


@pytest.mark.parametrize(
    ("text", "exactly", "containing"),
    [
        ("", {}, {}),
        ("title = Weekly plan\n\n body contains  on Friday ", {"title": "Weekly plan"}, {"body": "on Friday"}),
        ("priority: 3\nstarred is true", {"priority": 3, "starred": True}, {}),
        ('number = "0041"\nnumber2 = 0041', {"number": "0041", "number2": "0041"}, {}),
        ('labels = ["a", "b"]', {"labels": ["a", "b"]}, {}),
        ("title = a = b", {"title": "a = b"}, {}),
        ("rate = NaN", {"rate": "NaN"}, {}),
        ('{"path": "plan.md"}', {"path": "plan.md"}, {}),
    ],
)
def test_lines_are_read_and_written_alike(text: str, exactly: dict[str, Any], containing: dict[str, str]):
    assert read_values(text) == (exactly, containing)
    assert read_values(write_values(exactly, containing)) == (exactly, containing)


@pytest.mark.parametrize("value", ["3", "true", " spaced ", "two\nlines", "", 'say "x"', None, 1.5, [1, "2"], {"a": 1}])
def test_any_value_is_read_back_as_it_was(value: Any):
    assert read_values(write_values({"field": value}, {})) == ({"field": value}, {})


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("title", "Line 1: write “name = value” or “name contains text”."),
        ("a = 1\nb =", "Line 2: write “name = value” or “name contains text”."),
        ("a = 1\na = 2", "Line 2: a stands here twice."),
        ('{"rate": NaN}', "Write “name = value” or “name contains text”, one to a line."),
        ("{", "Write “name = value” or “name contains text”, one to a line."),
    ],
)
def test_a_line_that_says_nothing_is_reported_with_its_number(text: str, error: str):
    with pytest.raises(ValuesError, match=error):
        read_values(text)
