"""Sampling decisions to audit: stratified, reproducible from the seed, and as many as the wanted precision takes."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from annotations.intervals import wilson_ends


@dataclass(frozen=True)
class AuditableDecision:
    key: str
    """Unique."""
    stratum: str
    """Groups decisions of the same kind, answer and persona."""


@dataclass(frozen=True)
class SampledDecision:
    key: str
    stratum: str
    weight: float
    """How many decisions of its stratum it represents."""


def draw_sample(
    candidates: Iterable[AuditableDecision], size: int, seed: int, *, uniform: bool = False
) -> list[SampledDecision]:
    """Draw at most ``size`` decisions, in the order of their keys: who is asked in it learns nothing of the strata.

    Each stratum gets its proportional share by largest remainder, and at least one while there is room;
    ``uniform``: all the same number, as far as they have it.
    The order of ``candidates`` does not matter.
    """
    if size < 1:
        raise ValueError("a sample has at least one decision")
    strata: dict[str, list[str]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum].append(candidate.key)
    sizes = {stratum: len(keys) for stratum, keys in strata.items()}
    shares = allocate_uniformly(sizes, size) if uniform else allocate(sizes, size)
    rng = random.Random(seed)
    sample = []
    for stratum in sorted(strata):
        keys = sorted(strata[stratum])
        if len(set(keys)) != len(keys):
            raise ValueError("two candidates have the same key")
        for key in rng.sample(keys, shares[stratum]):
            sample.append(SampledDecision(key, stratum, len(keys) / shares[stratum]))
    return sorted(sample, key=lambda sampled: sampled.key)


def allocate(sizes: dict[str, int], size: int) -> dict[str, int]:
    total = sum(sizes.values())
    if total <= size:
        return dict(sizes)
    by_size = sorted(sizes, key=lambda stratum: (-sizes[stratum], stratum))
    shares = {stratum: int(size * sizes[stratum] / total) for stratum in by_size}
    remainders = sorted(by_size, key=lambda stratum: (-(size * sizes[stratum] / total - shares[stratum]), stratum))
    for stratum in remainders[: size - sum(shares.values())]:
        shares[stratum] += 1
    for stratum in by_size:  # largest first, each taking one from the best-represented stratum
        if shares[stratum] == 0:
            donor = max(by_size, key=lambda other: (shares[other], sizes[other], other))
            if shares[donor] < 2:
                break
            shares[donor] -= 1
            shares[stratum] = 1
    return shares


def allocate_uniformly(sizes: dict[str, int], size: int) -> dict[str, int]:
    """What small strata cannot give is divided among the others."""
    shares: dict[str, int] = {}
    left = min(size, sum(sizes.values()))
    by_size = sorted(sizes, key=lambda stratum: (sizes[stratum], stratum))
    for position, stratum in enumerate(by_size):
        shares[stratum] = min(sizes[stratum], left // (len(by_size) - position))
        left -= shares[stratum]
    return shares


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
