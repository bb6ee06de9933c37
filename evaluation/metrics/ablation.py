"""The last task of each dependency group with and without its earlier sessions (paper, Figure 5).

Both sides count the task's own intents alone: those of earlier tasks are what one side lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.metrics.comparison import Comparison, TaskKey, compare
from evaluation.metrics.scores import TaskResult
from evaluation.metrics.sessions import METRICS, Metric, ScoredSession, SessionRow, score_sessions
from evaluation.protocol.scoring import ScoringMode

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
