"""Short phrases that messages share: counted things and lists of titles."""

from __future__ import annotations

from collections.abc import Sequence


def count_of(number: int, singular: str, plural: str = "") -> str:
    """ "1 task", "3 tasks"; ``plural`` where an s does not make one."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def quoted_titles(items: Sequence[object], limit: int) -> str:
    """ "“Monday”, “Tuesday” and 3 more": the first ``limit`` items by name, the others counted."""
    named = ", ".join(f"“{item}”" for item in items[:limit])
    return f"{named} and {len(items) - limit} more" if len(items) > limit else named
