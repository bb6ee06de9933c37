"""Sampling decisions to audit: stratified, and reproducible from the seed."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


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
