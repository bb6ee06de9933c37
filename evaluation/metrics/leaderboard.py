"""Agents side by side: Proc and Comp over all and per persona (paper, Table 1), by kind of task (Table 8), terminal
statuses (Table 7) and turns (Figure 4)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from evaluation.metrics.intervals import Estimate, estimate
from evaluation.metrics.sessions import METRICS, STATUSES, Metric, ScoredSession, SessionRow
from evaluation.protocol.scoring import ScoringMode

T = TypeVar("T")
Scores = Mapping[Metric, Estimate]
COUNTED = (
    "Sessions: those that are scored, without set-up tasks. Turns: of the agent, the mean over all sessions that ran, "
    "set-up tasks included. Tokens and cost: of agent, user and judge, in and out, over all sessions."
)
"""What the counts beside scores are of."""
FEW = 5
"""Below so many tasks a cell says that it rests on few."""


@dataclass(frozen=True)
class AgentScores:
    agent: str
    scores: Scores
    personas: Mapping[str, Scores]
    runs: int
    """The most runs that any persona has."""
    sessions: int
    scored: int
    failed: int
    """Scored sessions that the agent failed: 0 in strict, left out in compat."""
    missing: int
    """Scored sessions without a score for reasons of our own."""
    blocked: int
    """Scored sessions whose user could not go on."""
    turns: float
    """Mean over sessions that ran."""
    tokens: int
    cost: float
    unpriced: int
    """Calls of unknown cost."""


def estimates_document(scores: Scores) -> dict[str, Any]:
    return {metric: asdict(scores[metric]) for metric in METRICS}


def scores_document(agent: AgentScores) -> dict[str, Any]:
    """As exports tell it, without its name."""
    return {
        **estimates_document(agent.scores),
        "personas": {name: estimates_document(scores) for name, scores in agent.personas.items()},
        "sessions": agent.sessions,
        "scored": agent.scored,
        "failed": agent.failed,
        "missing": agent.missing,
        "blocked": agent.blocked,
        "turns": agent.turns,
        "tokens": agent.tokens,
        "cost": agent.cost,
        "unpriced": agent.unpriced,
    }


def leaderboard(
    rows: Sequence[SessionRow], scored: Sequence[ScoredSession], mode: ScoringMode, *, persona_intervals: bool = True
) -> list[AgentScores]:
    """Best Proc first; agents without one last."""
    all_rows, all_scored = _by(rows, lambda row: row.agent), _by(scored, lambda item: item.row.agent)
    board = [_agent(agent, own, all_scored.get(agent, []), mode, persona_intervals) for agent, own in all_rows.items()]
    return sorted(board, key=lambda agent: (-(agent.scores["proc"].mean or -1.0), agent.agent))


def _agent(
    agent: str, rows: Sequence[SessionRow], scored: Sequence[ScoredSession], mode: ScoringMode, persona_intervals: bool
) -> AgentScores:
    personas = _by(scored, lambda item: item.row.persona)
    ran = [row for row in rows if row.result.outcome != "missing"]
    return AgentScores(
        agent=agent,
        scores=_benchmark_scores(scored, mode),
        personas={name: _benchmark_scores(own, mode, persona_intervals) for name, own in sorted(personas.items())},
        runs=max((item.round for item in scored), default=0),
        sessions=len(rows),
        scored=len(scored),
        failed=sum(item.row.result.outcome == "failed" for item in scored),
        missing=sum(
            item.row.result.outcome != "failed" and None in (item.proc[mode], item.comp[mode]) for item in scored
        ),
        blocked=sum(item.row.result.blocked for item in scored),
        turns=sum(row.turns for row in ran) / len(ran) if ran else 0.0,
        tokens=sum(row.tokens for row in rows),
        cost=sum(row.cost for row in rows),
        unpriced=sum(row.unpriced for row in rows),
    )


def _benchmark_scores(scored: Sequence[ScoredSession], mode: ScoringMode, interval: bool = True) -> Scores:
    return {metric: estimate((item.point(metric, mode) for item in scored), interval=interval) for metric in METRICS}


@dataclass(frozen=True)
class Cell:
    """Tasks of one kind, done by one agent; each task counts alike."""

    scores: Scores
    tasks: int

    @property
    def is_few(self) -> bool:
        return self.tasks < FEW


def breakdown(
    scored: Iterable[ScoredSession], label: str, mode: ScoringMode, *, intervals: bool = True
) -> dict[str, dict[str, Cell]]:
    """By value of the label, then agent. Tasks without the label stand under the empty value, tasks with several
    values under each."""
    table: dict[str, dict[str, Cell]] = {}
    by_value: dict[str, list[ScoredSession]] = defaultdict(list)
    for item in scored:
        for value in item.row.values_of(label):
            by_value[value].append(item)
    for value, of_value in sorted(by_value.items()):
        table[value] = {
            agent: Cell(
                {metric: _plain_estimate(own, metric, mode, intervals) for metric in METRICS},
                len({(item.row.persona, item.row.result.task_id) for item in own}),
            )
            for agent, own in sorted(_by(of_value, lambda item: item.row.agent).items())
        }
    return table


def _plain_estimate(scored: Sequence[ScoredSession], metric: Metric, mode: ScoringMode, interval: bool) -> Estimate:
    if interval:
        return estimate(item.plain_point(metric, mode) for item in scored)
    runs: dict[int, list[float]] = defaultdict(list)
    for item in scored:
        if (value := item.score(metric, mode)) is not None:
            runs[item.round].append(value)
    means = [math.fsum(values) / len(values) for values in runs.values()]
    return Estimate(math.fsum(means) / len(means) if means else None, n=sum(map(len, runs.values())))


def status_counts(rows: Iterable[SessionRow]) -> dict[str, dict[str, int]]:
    """By agent: intents by terminal status, set-up tasks included."""
    counts: dict[str, Counter[str]] = defaultdict(lambda: Counter(dict.fromkeys(STATUSES, 0)))
    for row in rows:
        counts[row.agent].update(row.statuses)
    return {agent: dict(counter) for agent, counter in sorted(counts.items())}


def marks(values: Mapping[str, float | None]) -> dict[str, str]:
    """``best`` and ``second``, ties included, as the paper's tables mark them; values are compared at one decimal of a
    percent, which is what tables show."""
    shown = {name: round(100 * value, 1) for name, value in values.items() if value is not None}
    ranks = sorted(set(shown.values()), reverse=True)
    words = dict(zip(ranks, ("best", "second"), strict=False))
    return {name: words[value] for name, value in shown.items() if value in words}


def _by(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups
