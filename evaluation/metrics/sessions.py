"""Sessions as plain rows, and their scores as points of a mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluation.metrics.intervals import Point
from evaluation.metrics.scores import TaskResult, comp, group_size, proc
from evaluation.protocol.scoring import ScoringMode

Metric = Literal["proc", "comp"]
METRICS: tuple[Metric, ...] = ("proc", "comp")
STATUSES = ("completed", "inferred", "provided")


@dataclass(frozen=True)
class SessionRow:
    """One session of one agent."""

    key: int
    agent: str
    persona: str
    run: tuple[int, int]
    """Pilot, and number of the run in it."""
    result: TaskResult
    labels: Mapping[str, str] = field(default_factory=dict)
    """What tasks are grouped by: ``category``, ``trigger``, ``difficulty``, …; a missing one is empty, several
    values stand on a line each."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Intents by terminal status."""
    turns: int = 0
    tokens: int = 0
    cost: float = 0.0
    """In US dollars."""
    unpriced: int = 0
    """Calls of unknown cost."""

    def values_of(self, label: str) -> list[str]:
        return self.labels.get(label, "").split("\n")


@dataclass(frozen=True)
class ScoredSession:
    """A session that counts, with its place in the means."""

    row: SessionRow
    round: int
    """The persona's how-manieth run of this agent, over all pilots, from 1."""
    group: str
    """Dependency group: the first of the tasks that depend on one another."""
    weight: int
    """g, the number of tasks it stands on, itself included."""
    proc: Mapping[ScoringMode, float | None]
    comp: Mapping[ScoringMode, float | None]

    def score(self, metric: Metric, mode: ScoringMode) -> float | None:
        return (self.proc if metric == "proc" else self.comp)[mode]

    def point(self, metric: Metric, mode: ScoringMode) -> Point:
        """In the mean over a benchmark: personas count alike, tasks by their weight."""
        return Point(self.row.persona, self.group, self.round, self.score(metric, mode), self.weight)

    def plain_point(self, metric: Metric, mode: ScoringMode) -> Point:
        """In the mean over any choice of tasks: each counts alike."""
        return Point("", f"{self.row.persona}/{self.group}", self.round, self.score(metric, mode))


def score_sessions(rows: Iterable[SessionRow]) -> list[ScoredSession]:
    """Sessions of tasks that are scored alone. Set-up tasks, which must be among ``rows``, count in their Proc."""
    by_persona: dict[tuple[str, str], dict[tuple[int, int], list[SessionRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_persona[row.agent, row.persona][row.run].append(row)
    scored: list[ScoredSession] = []
    for runs in by_persona.values():
        groups = dependency_groups({row.result.task_id: row.result.depends_on for run in runs.values() for row in run})
        for number, run in enumerate(sorted(runs), 1):
            scored += _score_run(runs[run], number, groups)
    return scored


def _score_run(run: Sequence[SessionRow], number: int, groups: Mapping[str, str]) -> Iterable[ScoredSession]:
    results = {row.result.task_id: row.result for row in run}
    graph = {result.task_id: result.depends_on for result in results.values()}
    for row in run:
        if row.result.setup:
            continue
        yield ScoredSession(
            row,
            number,
            groups[row.result.task_id],
            group_size(row.result.task_id, graph),
            {mode: proc(row.result, results, mode) for mode in ScoringMode},
            {mode: comp(row.result, mode) for mode in ScoringMode},
        )


def dependency_groups(depends_on: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Each task's group: the alphabetically first of all tasks connected with it."""
    parent = {task: task for tasks in ([name, *needs] for name, needs in depends_on.items()) for task in tasks}

    def root(task: str) -> str:
        while parent[task] != task:
            parent[task] = parent[parent[task]]
            task = parent[task]
        return task

    for task, needs in depends_on.items():
        for other in needs:
            first, second = sorted((root(task), root(other)))
            parent[second] = first
    return {task: root(task) for task in parent}
