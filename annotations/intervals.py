"""Confidence intervals of proportions, never given without n."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """``count`` of ``n`` with a 95 % interval; the three numbers are None where n is 0."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None

    @property
    def number(self) -> str:
        return "–" if self.value is None else f"{100 * self.value:.1f}"

    @property
    def share(self) -> str:
        return self.number if self.value is None else f"{self.number} %"

    @property
    def interval(self) -> str:
        return "–" if self.low is None or self.high is None else f"{100 * self.low:.1f}–{100 * self.high:.1f} %"

    @property
    def percent(self) -> str:
        """``2.7 % (0.9–7.5 %, n = 113)``."""
        return f"{self.share} ({self.interval}, n = {self.n})" if self.n else "– (n = 0)"


def wilson(count: int, n: int, z: float = 1.959964) -> Rate:
    """The Wilson score interval (Wilson 1927), which holds at small n and at 0 and n of n.

    ``z`` is the standard normal quantile; 1.96 gives 95 %.
    """
    if not 0 <= count <= n:
        raise ValueError(f"{count} of {n} is not a proportion")
    if n == 0:
        return Rate(0, 0, None, None, None)
    share, square = count / n, z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == n else min(1.0, middle + half)
    return Rate(count, n, share, low, high)
