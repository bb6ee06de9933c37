"""Agreement between people: percent, Cohen's and Fleiss' κ, Krippendorff's α, for nominal answers.

Each is None where undefined: nothing to compare, or no variation to agree about beyond chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations

Unit = Sequence[Hashable]
"""The answers to one packet, in any order, without missing ones."""


def disagreement(units: Sequence[Unit]) -> float | None:
    pairs = differing = 0
    for unit in units:
        for first, second in combinations(unit, 2):
            pairs += 1
            differing += first != second
    return differing / pairs if pairs else None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Two people over the same packets (Cohen 1960)."""
    if len(first) != len(second):
        raise ValueError("both people must have answered the same packets")
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    shares, others = Counter(first), Counter(second)
    expected = sum(shares[label] * others[label] for label in shares) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def fleiss_kappa(units: Sequence[Unit]) -> float | None:
    """Any number of people, the same number for each packet (Fleiss 1971)."""
    if not units:
        return None
    raters = len(units[0])
    if any(len(unit) != raters for unit in units):
        raise ValueError("every packet needs the same number of answers; use krippendorff_alpha otherwise")
    if raters < 2:
        return None
    totals: Counter[Hashable] = Counter()
    observed = 0.0
    for unit in units:
        counts = Counter(unit)
        totals.update(counts)
        observed += (sum(count**2 for count in counts.values()) - raters) / (raters * (raters - 1))
    observed /= len(units)
    expected = sum((count / (len(units) * raters)) ** 2 for count in totals.values())
    return None if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(units: Sequence[Unit]) -> float | None:
    """Any number of people and gaps, nominal (Krippendorff 2011, computing reliability). Needs no complete table."""
    pairable = [Counter(unit) for unit in units if len(unit) >= 2]
    totals: Counter[Hashable] = Counter()
    for counts in pairable:
        totals.update(counts)
    n = totals.total()
    if n < 2:
        return None
    observed = sum(
        sum(count * (counts.total() - count) for count in counts.values()) / (counts.total() - 1) for counts in pairable
    )
    expected = sum(count * (n - count) for count in totals.values()) / (n - 1)
    return None if expected == 0 else 1 - observed / expected
