"""How many tasks and runs it takes to tell two agents apart.

The difference of a task is the sum of what is particular to the task and of noise from run to run. With ``d`` the mean
difference, ``s²`` the variance between tasks and ``e²`` that between runs of one task, the mean over n tasks with k
runs each has the variance (s² + e²/k) / n. A paired test at 5 % finds d with 80 % power once
n ≥ (z₀.₉₇₅ + z₀.₈)² · (s² + e²/k) / d².
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

POWER = 0.8
_Z = statistics.NormalDist().inv_cdf(0.975) + statistics.NormalDist().inv_cdf(POWER)
MOST = 100_000
"""More than this is as good as never."""
Runs = Sequence[float]
"""Scores of one task, one per run."""


@dataclass(frozen=True)
class Needed:
    difference: float
    between: float
    """Variance of tasks' differences, without that of runs."""
    within: float
    """Variance that the difference of a single run of each agent has around its task's."""
    tasks: int
    """That both have now."""

    def tasks_needed(self, runs: int) -> int | None:
        """With so many runs of each; None if no realistic number is enough."""
        if abs(self.difference) < 1e-9:
            return None
        tasks = math.ceil(_Z**2 * (self.between + self.within / runs) / self.difference**2)
        return max(2, tasks) if tasks <= MOST else None

    def runs_needed(self) -> int | None:
        """With the tasks there are; None if no number of runs is enough."""
        spare = self.tasks * self.difference**2 / _Z**2 - self.between
        if spare <= 0:
            return None
        return max(1, math.ceil(self.within / spare))


def needed(first: Mapping[str, Runs], second: Mapping[str, Runs]) -> Needed | None:
    """From the scores of tasks that both agents have. None below two tasks."""
    common = [task for task in first if second.get(task) and first[task]]
    if len(common) < 2:
        return None
    differences = [statistics.fmean(second[task]) - statistics.fmean(first[task]) for task in common]
    spreads = [_variance_of_mean(first[task]) + _variance_of_mean(second[task]) for task in common]
    within = statistics.fmean(
        [variance for task in common if (variance := _within(first[task], second[task])) is not None] or [0.0]
    )
    between = max(0.0, statistics.variance(differences) - statistics.fmean(spreads))
    return Needed(statistics.fmean(differences), between, within, len(common))


def _within(first: Runs, second: Runs) -> float | None:
    parts = [statistics.variance(side) for side in (first, second) if len(side) > 1]
    return 2 * statistics.fmean(parts) if parts else None


def _variance_of_mean(values: Runs) -> float:
    return statistics.variance(values) / len(values) if len(values) > 1 else 0.0
