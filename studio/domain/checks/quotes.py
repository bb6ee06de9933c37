"""Quotations in messages."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST, SHORT = 140, 80
"""Characters of a quotation; SHORT if the passage is also highlighted in the field."""


def quote(text: str, longest: int = LONGEST) -> str:
    """In quotation marks, on one line, without a full stop, shortened at a word boundary."""
    line = " ".join(text.split()).rstrip(" .,;:")
    if len(line) > longest:
        line = line[:longest].rsplit(" ", 1)[0] + " …"
    return f"“{line}”"


def join_with_and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
