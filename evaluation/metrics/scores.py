"""Proc and Comp, from sessions to a benchmark (PIBENCH.md, section 3; paper, section 3.5).

Worked example, also a test: persona P has tasks a, b, c; c depends on a and b; d stands alone.

    a: setup, 2 intents, 1 covered        c: scored, 3 intents, 2 covered, weights 1 and 3, the 3 met
    b: setup, 1 intent, 0 covered         d: scored, 2 intents, 2 covered, one item, not met

    Proc(c) = (2 + 1 + 0) / (3 + 2 + 1) = 1/2     Comp(c) = 3/4     g(c) = |{c, a, b}| = 3
    Proc(d) = 2/2 = 1                             Comp(d) = 0       g(d) = 1
    Proc(P) = (1/2 · 3 + 1 · 1) / 4 = 5/8         Comp(P) = (3/4 · 3 + 0) / 4 = 9/16

How unfinished sessions count, by scoring mode:

    compat  a failed or ungraded task is left out of the mean, and out of the pool of its dependents, as in the public
            release: failing can raise the score. The same holds for technical failures.
    strict  a failed task scores 0 on both and covers nothing for its dependents. A technical failure neither
            helps nor hurts: the task, and the Proc of what pools it, count as missing.

Ungraded items (their grader is missing or broken) are outside the weight of Comp in both modes, and counted beside
the score: a defect of the benchmark is neither the agent's success nor its failure.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from studio.domain.task import TaskSpec

Outcome = Literal["finished", "failed", "missing"]


@dataclass(frozen=True)
class TaskResult:
    """What one session contributes to the scores."""

    task_id: str
    outcome: Outcome
    """``failed`` by the agent; ``missing`` after a technical failure or cancellation, or before it ran."""
    intents: int
    covered: int
    comp: Mapping[ScoringMode, float | None] = field(default_factory=dict)
    """By scoring mode; None if nothing could be graded."""
    setup: bool = False
    depends_on: tuple[str, ...] = ()
    blocked: bool = False
    """Its user could not go on: it counts as it stands, and a defect of the task is suspected."""


def task_result(
    task: TaskSpec,
    outcome: Outcome,
    statuses: Iterable[str],
    comp: Mapping[ScoringMode, float | None],
    *,
    blocked: bool = False,
) -> TaskResult:
    """``statuses``: with which its intents ended."""
    return TaskResult(
        task_id=task.task_id,
        outcome=outcome,
        intents=len(task.intents),
        covered=sum(status in COVERED for status in statuses),
        comp=comp,
        setup=task.is_setup,
        depends_on=tuple(dependency.task_id for dependency in task.depends_on),
        blocked=blocked,
    )


@dataclass(frozen=True)
class Score:
    """A weighted mean, and the number of tasks behind it."""

    proc: float | None
    comp: float | None
    n: int
    """Number of scored tasks."""
    failed: int = 0
    missing: int = 0
    """Scored tasks whose Proc or Comp is unknown."""
    blocked: int = 0


def proc(result: TaskResult, results: Mapping[str, TaskResult], mode: ScoringMode) -> float | None:
    """Proc of a task, its intents pooled with those of its direct dependencies. None if unknown or left out."""
    if result.outcome == "failed":
        return 0.0 if mode == ScoringMode.STRICT else None
    if result.outcome == "missing":
        return None
    covered, intents = result.covered, result.intents
    for name in result.depends_on:
        earlier = results.get(name)
        if earlier is None or earlier.outcome == "missing":
            if mode == ScoringMode.STRICT:
                return None
            continue
        if earlier.outcome == "failed":
            if mode == ScoringMode.STRICT:
                intents += earlier.intents
            continue
        covered += earlier.covered
        intents += earlier.intents
    return covered / intents if intents else None


def comp(result: TaskResult, mode: ScoringMode) -> float | None:
    if result.outcome == "failed":
        return 0.0 if mode == ScoringMode.STRICT else None
    return result.comp.get(mode) if result.outcome == "finished" else None


def group_size(task_id: str, depends_on: Mapping[str, Sequence[str]]) -> int:
    """g: the task and its transitive dependencies."""
    seen, pending = {task_id}, [task_id]
    while pending:
        for name in depends_on.get(pending.pop(), ()):
            if name not in seen:
                seen.add(name)
                pending.append(name)
    return len(seen)


def persona_score(results: Sequence[TaskResult], mode: ScoringMode) -> Score:
    """The mean over a persona's scored tasks, weighted by the size of their dependency groups."""
    by_id = {result.task_id: result for result in results}
    graph = {result.task_id: result.depends_on for result in results}
    scored = [result for result in results if not result.setup]
    weights = [group_size(result.task_id, graph) for result in scored]
    procs = [proc(result, by_id, mode) for result in scored]
    comps = [comp(result, mode) for result in scored]
    failed = sum(result.outcome == "failed" for result in scored)
    unknown = sum(
        result.outcome != "failed" and None in values for result, *values in zip(scored, procs, comps, strict=True)
    )
    blocked = sum(result.blocked for result in scored)
    return Score(_weighted(procs, weights), _weighted(comps, weights), len(scored), failed, unknown, blocked)


def benchmark_score(personas: Iterable[Score]) -> Score:
    scores = list(personas)
    return Score(
        mean(score.proc for score in scores),
        mean(score.comp for score in scores),
        sum(score.n for score in scores),
        sum(score.failed for score in scores),
        sum(score.missing for score in scores),
        sum(score.blocked for score in scores),
    )


def mean(values: Iterable[float | None]) -> float | None:
    """Ignores None; None if no value is left."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def spread(values: Iterable[float | None]) -> float | None:
    """The sample standard deviation (n - 1). Ignores None; None below two values."""
    known = [value for value in values if value is not None]
    return statistics.stdev(known) if len(known) > 1 else None


def _weighted(values: Sequence[float | None], weights: Sequence[int]) -> float | None:
    pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else None
