"""Confidence intervals of proportions, never given without n, and the quantiles of Student's t."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

NBSP = "\u00a0"


@dataclass(frozen=True)
class Rate:
    """``count`` of ``n`` with a 95 % interval; the three numbers are None where n is 0."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None

    def document(self) -> dict[str, float | None]:
        return {"count": self.count, "n": self.n, "rate": self.value, "low": self.low, "high": self.high}

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
        """``2.7 % (0.9–7.5 %, n = 113)``, with a line break only between its three parts or after the dash."""
        if not self.n:
            return f"–{NBSP}(n{NBSP}={NBSP}0)"
        share, interval = self.share.replace(" ", NBSP), self.interval.replace(" ", NBSP)
        return f"{share} ({interval}, n{NBSP}={NBSP}{self.n})"


def wilson(count: int, n: int, z: float = 1.959964) -> Rate:
    """The Wilson score interval (Wilson 1927), which holds at small n and at 0 and n of n.

    ``z`` is the standard normal quantile; 1.96 gives 95 %.
    """
    if not 0 <= count <= n:
        raise ValueError(f"{count} of {n} is not a proportion")
    if n == 0:
        return Rate(0, 0, None, None, None)
    return Rate(count, n, count / n, *wilson_ends(count / n, n, z))


def clustered_wilson(answers: Iterable[tuple[Hashable, bool]], z: float = 1.959964) -> Rate:
    """As ``wilson``, for answers given with their cluster: those of a cluster are alike, and count for less than as
    many independent ones (effective sample size; Kish 1965, Korn and Graubard 1998). Never narrower than ``wilson``.
    """
    clusters: dict[Hashable, list[bool]] = defaultdict(list)
    for cluster, hit in answers:
        clusters[cluster].append(hit)
    count, n = sum(map(sum, clusters.values())), sum(map(len, clusters.values()))
    if n == 0:
        return wilson(0, 0, z)
    share = count / n
    return Rate(count, n, share, *wilson_ends(share, n / max(1.0, _design_effect(clusters.values(), share, n)), z))


def _design_effect(clusters: Iterable[list[bool]], share: float, n: int) -> float:
    """The variance of the share between clusters beside that of as many independent answers."""
    rows = list(clusters)
    independent = share * (1 - share) / max(1, n - 1)
    if len(rows) < 2 or independent == 0:
        return 1.0
    spread = sum((sum(row) - share * len(row)) ** 2 for row in rows)
    return len(rows) / (len(rows) - 1) * spread / n**2 / independent


def wilson_ends(share: float, n: float, z: float) -> tuple[float, float]:
    square = z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return 0.0 if share == 0 else max(0.0, middle - half), 1.0 if share == 1 else min(1.0, middle + half)


def t_quantile(df: int, p: float = 0.975) -> float:
    """Of Student's t, to four digits from df = 3 on (Cornish–Fisher, Abramowitz and Stegun 26.7.5)."""
    if df < 1:
        raise ValueError("no degrees of freedom")
    if df <= 2:
        return math.tan(math.pi * (p - 0.5)) if df == 1 else (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p)))
    z = statistics.NormalDist().inv_cdf(p)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(z + sum(term / df**power for power, term in enumerate(terms, 1)))
