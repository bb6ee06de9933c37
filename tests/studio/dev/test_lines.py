"""Rooms may have so many lines of code."""

from __future__ import annotations

from pathlib import Path

from studio.dev.lines import count_code, count_rooms, over_the_limit

SOURCE = '''"""What it is.

In two paragraphs.
"""

# a reason
LIMIT = 3  # why three
"""Seconds."""


def shout(text: str) -> str:
    """Louder."""
    return (
        text.upper()
        # no exclamation mark
    )
'''


def test_blank_lines_comments_and_docstrings_are_free():
    assert count_code(SOURCE) == 5


def test_text_that_is_a_value_counts():
    assert count_code('QUERY = """\nSELECT 1\nFROM dual\n"""\n') == 4


def test_a_room_is_a_folder_two_levels_deep_or_the_modules_of_an_app(tmp_path: Path):
    for name in (
        "studio/urls.py",
        "studio/spec/task.py",
        "studio/spec/text/words.py",
        "studio/migrations/0001_initial.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")

    assert count_rooms(tmp_path) == {"studio": 1, "studio/spec": 2}


def test_more_lines_than_allowed_are_refused_and_as_many_or_fewer_are_not():
    allowed = {"studio/spec": 10, "studio/checks": 5}

    assert over_the_limit({"studio/spec": 10, "studio/checks": 4}, allowed) == []
    [refusal] = over_the_limit({"studio/spec": 11, "studio/checks": 4}, allowed)
    assert refusal.startswith("studio/spec has 11 lines of code and may have 10")


def test_a_room_without_a_number_may_have_none():
    [refusal] = over_the_limit({"studio/new": 1}, {})
    assert "studio/new has 1 lines of code and may have 0" in refusal
