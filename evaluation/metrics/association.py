"""How two figures of the same things go together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's, ties by their mean rank; None below three pairs or if one side does not vary."""
    return correlation(ranks(first), ranks(second)) if len(first) > 2 else None


def correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's, of pairs; None below two or if one side does not vary."""
    if len(first) < 2:
        return None
    means = statistics.fmean(first), statistics.fmean(second)
    ours, theirs = [value - means[0] for value in first], [value - means[1] for value in second]
    scale = math.sqrt(math.fsum(value * value for value in ours)) * math.sqrt(math.fsum(one * one for one in theirs))
    if scale < 1e-12:
        return None
    product = math.fsum(left * right for left, right in zip(ours, theirs, strict=True))
    return max(-1.0, min(1.0, product / scale))


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranked = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for at in order[start : end + 1]:
            ranked[at] = (start + end) / 2 + 1
        start = end + 1
    return ranked
