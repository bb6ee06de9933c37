"""Means of dependent observations with their intervals.

Tasks of one dependency group share what earlier sessions established, and the runs of one task share the task. So what
is drawn again is the whole group with all its runs, within each persona: the rescaled bootstrap for stratified clusters
(Rao and Wu 1988), which draws one cluster fewer than there are and needs no correction for few clusters. The interval
is the mean plus and minus Student's t times the bootstrap's standard error, cut to the range of the scores.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations.intervals import t_quantile

RESAMPLES = 1_000
SEED = 2605
Floats = NDArray[np.float64]


class Point(NamedTuple):
    """One score of one task in one run; ``value`` is None where it is unknown or does not count."""

    stratum: str
    """Means are taken within strata first (personas), then over them."""
    cluster: str
    """Dependency group."""
    run: int
    value: float | None
    weight: float = 1.0


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard deviation over runs and its 95 % interval. None: unknown, as where there are too few
    dependency groups for an interval or none differs from another."""

    mean: float | None = None
    sd: float | None = None
    """Over runs, n - 1; None for one run."""
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Number of points behind it."""

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class _Stratum:
    values: Floats
    """Clusters × runs: sum of weight × value."""
    weights: Floats
    """Clusters × runs: sum of weights of known values."""


def estimate(points: Iterable[Point], *, low: float = 0.0, high: float = 1.0, interval: bool = True) -> Estimate:
    """The mean over runs of the mean over strata of the weighted mean over tasks. A run without one of the strata is
    left out. ``low`` and ``high`` are the range of the scores. ``interval=False`` is five times as fast."""
    known = [point for point in points if point.value is not None]
    if not known:
        return Estimate()
    runs = _means_of_runs(known)
    if not runs:
        return Estimate(n=len(known))
    mean = math.fsum(runs) / len(runs)
    error, df = _standard_error(_strata(known)) if interval else (None, 0)
    # groups that do not differ say nothing of their spread; sums of equal numbers differ in their last digits
    half = t_quantile(df) * error if error and error > 1e-12 else None
    return Estimate(
        mean,
        _deviation(runs, mean) if len(runs) > 1 else None,
        None if half is None else max(low, mean - half),
        None if half is None else min(high, mean + half),
        len(known),
    )


def _means_of_runs(points: Sequence[Point]) -> list[float]:
    """Of the runs that have every stratum, in order."""
    sums: dict[int, dict[str, list[float]]] = {}
    for point in points:
        assert point.value is not None
        total = sums.setdefault(point.run, {}).setdefault(point.stratum, [0.0, 0.0])
        total[0] += point.weight * point.value
        total[1] += point.weight
    strata = len({point.stratum for point in points})
    return [
        math.fsum(value / weight for value, weight in row.values()) / strata
        for _, row in sorted(sums.items())
        if len(row) == strata and all(weight > 0 for _, weight in row.values())
    ]


def _deviation(values: Sequence[float], mean: float) -> float:
    """As ``statistics.stdev``, which is exact and slow."""
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _strata(points: Sequence[Point]) -> list[_Stratum]:
    runs = {run: column for column, run in enumerate(sorted({point.run for point in points}))}
    clusters: dict[str, dict[str, int]] = defaultdict(dict)
    for point in points:
        clusters[point.stratum].setdefault(point.cluster, len(clusters[point.stratum]))
    sums = {
        name: (np.zeros((len(rows), len(runs))), np.zeros((len(rows), len(runs)))) for name, rows in clusters.items()
    }
    for point in points:
        assert point.value is not None
        values, weights = sums[point.stratum]
        at = clusters[point.stratum][point.cluster], runs[point.run]
        values[at] += point.weight * point.value
        weights[at] += point.weight
    return [_Stratum(*sums[name]) for name in sorted(sums)]


def _or_nan(weights: Floats) -> Floats:
    return np.where(weights > 0, weights, np.nan)


def _mean_over_strata(rows: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(np.stack(rows), axis=0))


def _standard_error(strata: Sequence[_Stratum]) -> tuple[float | None, int]:
    """Also the degrees of freedom: clusters less strata. None where no stratum has two clusters."""
    df = sum(len(row.values) - 1 for row in strata)
    if df < 1:
        return None, 0
    replicates = []
    for number, row in enumerate(strata):
        counts = _draws(len(row.values), SEED + number)
        replicates.append((counts @ row.values) / _or_nan(counts @ row.weights))
    means = _known_means(_mean_over_strata(replicates))
    return (float(means.std(ddof=1)), df) if len(means) > 1 else (None, 0)


def _known_means(by_run: Floats) -> Floats:
    """Of each row, over its known values; rows without any are dropped."""
    known = ~np.isnan(by_run)
    count = known.sum(axis=1)
    return np.asarray(np.where(known, by_run, 0.0).sum(axis=1)[count > 0] / count[count > 0])


@lru_cache(64)
def _draws(clusters: int, seed: int) -> Floats:
    """How often each resample has each cluster; ones for a single cluster, whose spread is unknown. Means are ratios of
    two sums over the same draws, so that rescaling them would change nothing."""
    if clusters < 2:
        return np.ones((RESAMPLES, clusters))
    drawn = np.random.default_rng(seed).multinomial(clusters - 1, np.full(clusters, 1 / clusters), RESAMPLES)
    return np.asarray(drawn, dtype=np.float64)
