"""Two agents, or two pilots, on the same tasks; and the last task of each dependency group with and without its earlier
sessions (paper, Figure 5)."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.intervals import t_quantile
from evaluation.metrics.intervals import SEED, Estimate, Point, estimate
from evaluation.metrics.scores import TaskResult
from evaluation.metrics.sessions import METRICS, Metric, ScoredSession, SessionRow, score_sessions
from evaluation.protocol.scoring import ScoringMode

PERMUTATIONS = 10_000
SIGNIFICANT = 0.05

TaskKey = tuple[str, str]
"""Persona and task."""


@dataclass(frozen=True)
class TaskDifference:
    """Of one task: second less first, means over runs."""

    persona: str
    task: str
    first: float
    second: float
    low: float | None
    """95 % interval by Welch's t; None with a single run on a side, or if no run differs from another."""
    high: float | None
    first_sessions: tuple[int, ...]
    second_sessions: tuple[int, ...]

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class Comparison:
    metric: Metric
    difference: Estimate
    """Second less first, between -1 and 1."""
    p: float | None
    """Of the paired permutation test over dependency groups; None without common tasks."""
    tasks: tuple[TaskDifference, ...]

    @property
    def stands(self) -> bool:
        """Whether the difference is more than noise at 5 %."""
        return self.p is not None and self.p < SIGNIFICANT

    @property
    def rose(self) -> int:
        """Tasks whose second score is higher."""
        return sum(task.difference > 0 for task in self.tasks)

    @property
    def fell(self) -> int:
        return sum(task.difference < 0 for task in self.tasks)

    @property
    def same(self) -> int:
        return len(self.tasks) - self.rose - self.fell


def compare(
    first: Iterable[ScoredSession], second: Iterable[ScoredSession], metric: Metric, mode: ScoringMode
) -> Comparison:
    """Over tasks that both have scores for. A task's runs are averaged first; personas count alike, tasks by weight."""
    ours, theirs = _known(first, metric, mode), _known(second, metric, mode)
    common = [key for key in ours if key in theirs]
    tasks = tuple(_task(key, ours[key], theirs[key], metric, mode) for key in sorted(common))
    points = []
    for row in tasks:
        scored = ours[row.persona, row.task][0]
        points.append(Point(row.persona, scored.group, 1, row.difference, scored.weight))
    return Comparison(metric, estimate(points, low=-1.0, high=1.0), permutation_p(points), tasks)


def permutation_p(points: Sequence[Point]) -> float | None:
    """Two-sided p of a mean of differences being 0: the sign of each cluster's sum is as likely either way. All signs
    are tried where there are at most 12 clusters, else 10,000 seeded ones (counting the observed one)."""
    if not points:
        return None
    sums: dict[tuple[str, str], float] = defaultdict(float)
    weights: dict[str, float] = defaultdict(float)
    for point in points:
        assert point.value is not None
        sums[point.stratum, point.cluster] += point.weight * point.value
        weights[point.stratum] += point.weight
    shares = np.array([value / weights[stratum] / len(weights) for (stratum, _), value in sums.items()])
    n = len(shares)
    if n <= 12:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        extra = 0
    else:
        signs = _random_signs(n)
        extra = 1
    extreme = int((np.abs(signs @ shares) >= abs(shares.sum()) - 1e-12).sum())
    return (extreme + extra) / (len(signs) + extra)


@lru_cache(64)
def _random_signs(n: int) -> NDArray[np.int8]:
    return np.asarray(np.random.default_rng(SEED).integers(0, 2, (PERMUTATIONS, n), dtype=np.int8) * 2 - 1)


def _known(
    scored: Iterable[ScoredSession], metric: Metric, mode: ScoringMode
) -> Mapping[TaskKey, Sequence[ScoredSession]]:
    tasks: dict[TaskKey, list[ScoredSession]] = defaultdict(list)
    for item in scored:
        if item.score(metric, mode) is not None:
            tasks[item.row.persona, item.row.result.task_id].append(item)
    return tasks


def _task(
    key: TaskKey, first: Sequence[ScoredSession], second: Sequence[ScoredSession], metric: Metric, mode: ScoringMode
) -> TaskDifference:
    ours, theirs = ([item.score(metric, mode) or 0.0 for item in side] for side in (first, second))
    low, high = _welch(ours, theirs)
    return TaskDifference(
        *key,
        statistics.fmean(ours),
        statistics.fmean(theirs),
        low,
        high,
        tuple(item.row.key for item in first),
        tuple(item.row.key for item in second),
    )


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[float | None, float | None]:
    if len(first) < 2 or len(second) < 2:
        return None, None
    parts = [statistics.variance(side) / len(side) for side in (first, second)]
    difference, error = statistics.fmean(second) - statistics.fmean(first), math.sqrt(sum(parts))
    if error == 0:
        return None, None
    df = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True))
    half = t_quantile(max(1, math.floor(df))) * error
    return max(-1.0, difference - half), min(1.0, difference + half)


UNCHANGED = 0.01
"""A drop below one point is no change."""


@dataclass(frozen=True)
class AblatedSession:
    session: int
    persona: str
    run: int
    with_earlier: bool
    result: TaskResult


def ablation_json(sessions: Iterable[AblatedSession], modes: Sequence[ScoringMode]) -> dict[str, Any]:
    """By scoring mode and metric; differences are with less without, so what the earlier sessions gave."""
    rows = list(sessions)
    return {mode: {metric: _comparison_json(compare_arms(rows, metric, mode)) for metric in METRICS} for mode in modes}


def compare_arms(sessions: Iterable[AblatedSession], metric: Metric, mode: ScoringMode) -> Comparison:
    """First without, second with the earlier sessions; over last tasks that have both."""
    rows = list(sessions)
    pairs = {(row.persona, row.result.task_id) for row in rows if not row.with_earlier}
    without, with_earlier = (
        _scored(row for row in rows if row.with_earlier == side and (row.persona, row.result.task_id) in pairs)
        for side in (False, True)
    )
    return compare(without, with_earlier, metric, mode)


def unchanged_tasks(comparisons: Iterable[Comparison]) -> list[TaskKey]:
    """Last tasks that score the same, in every comparison, without the earlier sessions of their group."""
    changed: dict[TaskKey, bool] = {}
    for comparison in comparisons:
        for row in comparison.tasks:
            key = (row.persona, row.task)
            changed[key] = changed.get(key, False) or abs(row.difference) >= UNCHANGED
    return sorted(key for key, is_changed in changed.items() if not is_changed)


def _scored(rows: Iterable[AblatedSession]) -> list[ScoredSession]:
    return score_sessions(
        SessionRow(row.session, "", row.persona, (0, row.run), replace(row.result, depends_on=())) for row in rows
    )


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    tasks = comparison.tasks
    difference = comparison.difference
    return {
        "without": sum(row.first for row in tasks) / len(tasks) if tasks else None,
        "with": sum(row.second for row in tasks) / len(tasks) if tasks else None,
        "difference": difference.mean,
        "low": difference.low,
        "high": difference.high,
        "p": comparison.p,
        "n": len(tasks),
        "tasks": [
            {
                "persona": row.persona,
                "task": row.task,
                "without": row.first,
                "with": row.second,
                "sessions_without": list(row.first_sessions),
                "sessions_with": list(row.second_sessions),
            }
            for row in tasks
        ],
    }
