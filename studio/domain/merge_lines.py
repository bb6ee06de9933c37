"""Three-way merge of one text by lines."""

from __future__ import annotations

from difflib import SequenceMatcher

MAX_LINES = 4_000
"""Longer texts are not compared line by line."""
Change = tuple[int, int, list[str]]
"""First and last line of the base (exclusive), and the lines in their place."""


def merge_lines(base: str, theirs: str, mine: str) -> str | None:
    """Both sides' changes; None if they touch the same or neighbouring lines in different ways."""
    lines, others, own = base.split("\n"), theirs.split("\n"), mine.split("\n")
    if max(len(lines), len(others), len(own)) > MAX_LINES:
        return None
    changes = _changes(lines, own)
    for change in _changes(lines, others):
        if change in changes:
            continue
        if any(change[0] <= one[1] and one[0] <= change[1] for one in changes):
            return None
        changes.append(change)
    for start, end, replacement in sorted(changes, reverse=True):
        lines[start:end] = replacement
    return "\n".join(lines)


def _changes(base: list[str], text: list[str]) -> list[Change]:
    codes = SequenceMatcher(None, base, text, autojunk=False).get_opcodes()
    return [(i1, i2, text[j1:j2]) for tag, i1, i2, j1, j2 in codes if tag != "equal"]
