"""Words of a task inside a message about it."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST, BRIEF = 140, 80
"""Characters: of what has to be read, and of what is marked in the field anyway."""


def quote(text: str, longest: int = LONGEST) -> str:
    """In quotation marks, on one line, without its full stop, cut at a word when it is long."""
    line = " ".join(text.split()).rstrip(" .,;:")
    if len(line) > longest:
        line = line[:longest].rsplit(" ", 1)[0] + " …"
    return f"“{line}”"


def join_with_and(parts: Iterable[str]) -> str:
    """“1, 2 and 3”."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
