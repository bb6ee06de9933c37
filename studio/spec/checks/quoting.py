"""Words of a task inside a message about it."""

from __future__ import annotations

LONGEST = 140


def quote(text: str) -> str:
    """In quotation marks, on one line, cut at a word when it is long."""
    line = " ".join(text.split())
    if len(line) > LONGEST:
        line = line[:LONGEST].rsplit(" ", 1)[0] + " …"
    return f"“{line}”"
