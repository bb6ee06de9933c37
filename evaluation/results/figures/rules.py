"""How scores move with the rules, and what it takes to tell agents apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from evaluation.grading.credit import CreditRule, default_rules
from evaluation.grading.items import completeness
from evaluation.metrics.intervals import Estimate, estimate
from evaluation.metrics.power import needed
from evaluation.metrics.sessions import METRICS, Metric, ScoredSession, SessionRow, score_sessions
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results
from evaluation.results.figures.figure import Chart, Column, Figure, estimate_values


@dataclass(frozen=True)
class _Variant:
    label: str
    metric: Metric
    value: Callable[[SessionRow], float | None]
    """Of one session: Comp, or the number of intents that count for Proc."""


def credit_rules(results: Results, mode: ScoringMode) -> Figure:
    chosen = {agent.agent: agent.scores for agent in results.board(mode)}
    rows: list[dict[str, Any]] = []
    for variant in _variants(results, mode):
        for agent, value in _scores(results, variant, mode).items():
            now = chosen[agent][variant.metric].mean
            moved = None if value.mean is None or now is None else value.mean - now
            rows.append(
                {"rule": variant.label, "agent": agent, "score": variant.metric.capitalize()}
                | estimate_values("value", value)
                | {"moved": moved, "sessions": {"agent": agent}}
            )
    return Figure(
        "credit_rules",
        "Scores under other credit rules",
        f"What Proc and Comp would be if intents and criteria counted otherwise, and how far that is from {mode} "
        "scoring as it was chosen. Rules that need decisions on every turn are here only where those were made.",
        [
            Column("rule", "Rule"),
            Column("agent", "Agent"),
            Column("score", "Score"),
            Column("value", "Value", "percent"),
            Column("moved", "Moved by", "points"),
        ],
        rows,
        Chart("intervals", x=("value",), group="rule"),
    )


_COMPS = (
    ("any turn, as the release judges", ScoringMode.COMPAT, "any_turn"),
    ("last turn, as the release judges", ScoringMode.COMPAT, "last_turn"),
    ("first credit stays, strict", ScoringMode.STRICT, "first_credited"),
    ("last turn, strict", ScoringMode.STRICT, "last_turn"),
)


def _variants(results: Results, mode: ScoringMode) -> list[_Variant]:
    def counted(*statuses: str) -> Callable[[SessionRow], float | None]:
        return lambda row: float(sum(row.statuses.get(status, 0) for status in statuses))

    every_turn = all(judging_round.every_turn for each in results.loaded for judging_round in each.rounds)
    variants = [
        _Variant("Proc: only what was done unasked", "proc", counted("completed")),
        _Variant("Proc: done or asked for", "proc", counted("completed", "inferred")),
    ]
    usual = {default_rules(pilot.terms.protocol)[ScoringMode.STRICT].turns for pilot in results.pilots}
    for words, judged, turns in _COMPS:
        if judged in results.modes and (judged == ScoringMode.COMPAT or every_turn or usual == {turns}):
            variants.append(_Variant(f"Comp: {words}", "comp", _comp_under(results, judged, CreditRule(turns))))
    return variants


def _comp_under(results: Results, judged: ScoringMode, rule: CreditRule) -> Callable[[SessionRow], float | None]:
    def comp(row: SessionRow) -> float | None:
        session = results.decisions.get(row.key)
        return completeness([(item.weight, met) for item, met in session.criteria(judged, rule)]) if session else None

    return comp


def _scores(results: Results, variant: _Variant, mode: ScoringMode) -> Mapping[str, Estimate]:
    changed = []
    for row in results.rows:
        value = variant.value(row)
        result = (
            replace(row.result, covered=int(value or 0))
            if variant.metric == "proc"
            else replace(row.result, comp={mode: value})
        )
        changed.append(replace(row, result=result))
    by_agent: dict[str, list[ScoredSession]] = defaultdict(list)
    for item in score_sessions(changed):
        by_agent[item.row.agent].append(item)
    return {
        agent: estimate(item.point(variant.metric, mode) for item in own) for agent, own in sorted(by_agent.items())
    }


def separation(results: Results, mode: ScoringMode) -> Figure:
    rows: list[dict[str, Any]] = []
    for metric in METRICS:
        known = [agent for agent in results.board(mode) if agent.scores[metric].mean is not None]
        known.sort(key=lambda agent: -(agent.scores[metric].mean or 0.0))
        for better, worse in pairwise(known):
            found = separation_of(results, worse.agent, better.agent, metric, mode)
            if found is not None:
                pair = {"pair": f"{better.agent} over {worse.agent}", "score": metric.capitalize()}
                rows.append(pair | found | {"sessions": {"agent": better.agent}})
    return Figure(
        "separation",
        "What it takes to tell agents apart",
        "For each agent and the next below it: the tasks, with so many runs each, that a paired test at 5 % needs to "
        "find this difference four times in five, from the spread between tasks and between runs seen here. A dash: "
        "more than 100,000 tasks, or no number of runs.",
        [
            Column("pair", "Agents"),
            Column("score", "Score"),
            Column("difference", "Difference", "points"),
            Column("p", "p", "probability"),
            Column("tasks", "Tasks now", "count"),
            Column("tasks_1", "Tasks, 1 run", "count"),
            Column("tasks_3", "Tasks, 3 runs", "count"),
            Column("tasks_5", "Tasks, 5 runs", "count"),
            Column("runs", "Runs, these tasks", "count"),
        ],
        rows,
        Chart("intervals", label="pair", x=("difference",), group="score"),
    )


def separation_of(
    results: Results, first: str, second: str, metric: Metric, mode: ScoringMode
) -> dict[str, Any] | None:
    """As a row has it; None with less than two tasks in common."""
    sides = [_task_runs(results.of_side(side), metric, mode) for side in (first, second)]
    found = needed(*sides)
    if found is None:
        return None
    comparison = results.comparison(first, second, metric, mode)
    return (
        estimate_values("difference", comparison.difference)
        | {"p": comparison.p, "tasks": found.tasks}
        | {f"tasks_{runs}": found.tasks_needed(runs) for runs in (1, 3, 5)}
        | {"runs": found.runs_needed()}
    )


def _task_runs(scored: Sequence[ScoredSession], metric: Metric, mode: ScoringMode) -> dict[str, list[float]]:
    runs: dict[str, list[float]] = defaultdict(list)
    for item in scored:
        if (value := item.score(metric, mode)) is not None:
            runs[f"{item.row.persona}/{item.row.result.task_id}"].append(value)
    return runs
