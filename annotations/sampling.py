"""Which decisions people look at: a stratified sample that the same seed draws again."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class AuditableDecision:
    """A decision that could be audited."""

    key: str
    """Its name; unique."""
    stratum: str
    """Decisions alike in what matters (kind, decision, persona)."""


@dataclass(frozen=True)
class SampledDecision:
    """A decision of the sample."""

    key: str
    stratum: str
    weight: float
    """How many decisions of its stratum it stands for."""


def draw_sample(candidates: Iterable[AuditableDecision], size: int, seed: int) -> list[SampledDecision]:
    """A sample of at most ``size``, in a random order that tells nothing of the strata.

    Every stratum gets its proportional share by largest remainder, and one at least while there is
    room. The result depends on the candidates and the seed, not on the candidates' order.
    """
    if size < 1:
        raise ValueError("a sample has at least one decision")
    strata: dict[str, list[str]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.stratum].append(candidate.key)
    shares = allocate({stratum: len(keys) for stratum, keys in strata.items()}, size)
    rng = random.Random(seed)
    drawn = []
    for stratum in sorted(strata):
        keys = sorted(strata[stratum])
        if len(set(keys)) != len(keys):
            raise ValueError("two candidates have the same key")
        for key in rng.sample(keys, shares[stratum]):
            drawn.append(SampledDecision(key, stratum, len(keys) / shares[stratum]))
    rng.shuffle(drawn)
    return drawn


def allocate(sizes: dict[str, int], size: int) -> dict[str, int]:
    """How many to draw of each stratum, given how many it has."""
    total = sum(sizes.values())
    if total <= size:
        return dict(sizes)
    by_need = sorted(sizes, key=lambda stratum: (-sizes[stratum], stratum))
    shares = {stratum: int(size * sizes[stratum] / total) for stratum in by_need}
    remainders = sorted(by_need, key=lambda stratum: (-(size * sizes[stratum] / total - shares[stratum]), stratum))
    for stratum in remainders[: size - sum(shares.values())]:
        shares[stratum] += 1
    for stratum in by_need:  # the largest first: a rare kind of decision is worth one of a common kind
        if shares[stratum] == 0:
            giver = max(by_need, key=lambda other: (shares[other], sizes[other], other))
            if shares[giver] < 2:
                break
            shares[giver] -= 1
            shares[stratum] = 1
    return shares
