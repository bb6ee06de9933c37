"""How large an audit has to be for the precision that is wanted."""

from __future__ import annotations

import math

from annotations.intervals import wilson_ends

EXPECTED_RATE = 0.03
"""Of disagreement, about what the paper found (Table 6)."""
ALIKENESS = 1.5
"""How many times more decisions it takes if they come by whole sessions: a guess that errs on the safe side."""
Z = 1.959964


def half_width(n: int, rate: float = EXPECTED_RATE) -> float:
    """Of the 95 % interval of a rate with ``n`` independent decisions; both are shares."""
    low, high = wilson_ends(rate, n, Z)
    return (high - low) / 2


def decisions_needed(wanted: float, rate: float = EXPECTED_RATE) -> int:
    """The fewest independent decisions with a half-width of at most ``wanted``, a share."""
    if not 0 < wanted < 0.5:
        raise ValueError("a half-width is between 0 and a half")
    most = math.ceil((Z / wanted) ** 2)  # enough for any rate
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle, rate) <= wanted else (middle + 1, high)
    return low


def sessions_needed(wanted: float, questions: float, rate: float = EXPECTED_RATE) -> int:
    """With as many questions in a session on average."""
    return math.ceil(ALIKENESS * decisions_needed(wanted, rate) / max(1.0, questions))
