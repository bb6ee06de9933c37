"""Proc, Comp and turns of agents and tasks (paper, Figures 3 and 4), and how often all runs agree."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from evaluation.metrics.association import rank_correlation
from evaluation.metrics.intervals import Estimate, Point, estimate
from evaluation.metrics.reliability import Played, agent_reliability, played
from evaluation.metrics.scores import mean
from evaluation.metrics.sessions import METRICS, ScoredSession
from evaluation.protocol.modes import Arm
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import UNGROUPED, Results, category_names
from evaluation.results.figures.figure import Chart, Column, Figure, estimate_values

PROC, COMP = Column("proc", "Proc", "percent"), Column("comp", "Comp", "percent")
AGENT, SESSIONS = Column("agent", "Agent"), Column("n", "Sessions", "count")


def turns_and_proc(results: Results, mode: ScoringMode) -> Figure:
    scored = _by_agent(results.scored)
    rows: list[dict[str, Any]] = [
        {
            "agent": agent.agent,
            **estimate_values("turns", turns_estimate(scored.get(agent.agent, ()))),
            **estimate_values("proc", agent.scores["proc"]),
            "n": agent.scored,
            "sessions": {"agent": agent.agent},
        }
        for agent in results.board(mode)
    ]
    note = "Fewer turns at a higher Proc is better. Turns are those of scored sessions that ran."
    correlation, told = _association(rows, "turns", "proc")
    return Figure(
        "turns_and_proc",
        "Turns against Proc",
        f"{note} {told}",
        [AGENT, Column("turns", "Turns per session", "number"), PROC, SESSIONS],
        rows,
        Chart("scatter", x=("turns",), y="proc", trend=True),
        facts=correlation,
    )


def turns_estimate(scored: Sequence[ScoredSession]) -> Estimate:
    """Mean turns of the sessions that ran, over personas and runs."""
    points = [
        Point(item.row.persona, item.group, item.round, float(item.row.turns))
        for item in scored
        if item.row.result.outcome != "missing"
    ]
    return estimate(points, high=math.inf)


def proc_and_comp(results: Results, mode: ScoringMode) -> Figure:
    rows: list[dict[str, Any]] = [
        {
            "agent": agent.agent,
            **estimate_values("comp", agent.scores["comp"]),
            **estimate_values("proc", agent.scores["proc"]),
            "n": agent.scored,
            "sessions": {"agent": agent.agent},
        }
        for agent in results.board(mode)
    ]
    correlation, told = _association(rows, "comp", "proc")
    return _proc_and_comp("proc_and_comp", "Proc against Comp", AGENT, rows, told, correlation)


def proc_and_comp_by_category(results: Results, mode: ScoringMode) -> Figure:
    names = category_names(results.benchmark)
    rows: list[dict[str, Any]] = []
    for value, cells in results.breakdown("category", mode).items():
        name = f"{value} · {names[value]}" if value in names else value or UNGROUPED
        for agent, cell in cells.items():
            rows.append(
                {"category": name, "agent": agent}
                | estimate_values("comp", cell.scores["comp"])
                | estimate_values("proc", cell.scores["proc"])
                | {"tasks": cell.tasks, "sessions": {"agent": agent, "category": value}}
            )
    return Figure(
        "proc_and_comp_by_category",
        "Proc against Comp by category",
        "One drawing a category, one point an agent. Above the dashed line Proc is higher than Comp.",
        [Column("category", "Category"), AGENT, COMP, PROC, Column("tasks", "Tasks", "count")],
        rows,
        Chart("scatter", x=("comp",), y="proc", group="category", diagonal=True),
    )


def proc_and_comp_by_task(results: Results, mode: ScoringMode) -> Figure:
    tasks: dict[tuple[str, str], list[ScoredSession]] = defaultdict(list)
    for item in results.scored:
        tasks[item.row.persona, item.row.result.task_id].append(item)
    rows: list[dict[str, Any]] = [
        {"persona": persona, "task": task}
        | {metric: mean(item.score(metric, mode) for item in own) for metric in METRICS}
        | {"n": len(own), "sessions": {"persona": persona, "task": task}}
        for (persona, task), own in tasks.items()
    ]
    correlation, told = _association(rows, "comp", "proc")
    columns = [Column("persona", "Persona"), Column("task", "Task")]
    note = f"Each point is a task, the mean over all sessions of the chosen agents. {told}"
    return _proc_and_comp("proc_and_comp_by_task", "Proc against Comp by task", columns, rows, note, correlation)


def _proc_and_comp(
    name: str,
    title: str,
    first: Column | Sequence[Column],
    rows: Sequence[dict[str, Any]],
    note: str,
    facts: dict[str, Any],
) -> Figure:
    heads = [first] if isinstance(first, Column) else list(first)
    return Figure(
        name,
        title,
        f"Above the dashed line Proc is higher than Comp, below it Comp is higher. {note}",
        [*heads, COMP, PROC, SESSIONS],
        rows,
        Chart("scatter", label=heads[-1].key, x=("comp",), y="proc", diagonal=True),
        facts=facts,
    )


def _association(rows: Sequence[dict[str, Any]], x: str, y: str) -> tuple[dict[str, Any], str]:
    known = [row for row in rows if row[x] is not None and row[y] is not None]
    value = rank_correlation([row[x] for row in known], [row[y] for row in known])
    if value is None:
        return {}, ""
    return {"rank_correlation": value, "n": len(known)}, f"Spearman’s ρ = {value:.2f} (n = {len(known)}).".replace(
        "-", "−"
    )


def _by_agent(scored: Sequence[ScoredSession]) -> dict[str, list[ScoredSession]]:
    groups: dict[str, list[ScoredSession]] = defaultdict(list)
    for item in scored:
        groups[item.row.agent].append(item)
    return groups


def in_every_run(results: Results, mode: ScoringMode) -> Figure:
    sessions: dict[str, list[Played]] = defaultdict(list)
    for pilot, session, row in results.played:
        if row.result.outcome != "missing" and session.run.arm != Arm.WITHOUT:
            statuses = {index: status.status for index, status in pilot.judged[row.key].statuses.items()}
            key = (row.persona, row.result.task_id)
            sessions[row.agent].append(
                played(key, pilot.task(session), statuses, row.result.outcome, row.result.comp[mode])
            )
    rows: list[dict[str, Any]] = []
    for agent in results.board(mode):
        found = agent_reliability(sessions[agent.agent])
        tasks = {one.k: one for one in found["tasks"]}
        for each in found["intents"]:
            whole = tasks.get(each.k)
            rows.append(
                {"agent": agent.agent, "runs": each.k, "intents": each.share, "n_intents": each.n}
                | {"tasks": whole.share if whole else None, "n_tasks": whole.n if whole else 0}
                | {"sessions": {"agent": agent.agent}}
            )
    return Figure(
        "in_every_run",
        "Achieved in every run",
        "The share of intents, and of whole tasks, that an agent achieves in all of so many runs, over all choices of "
        "them among those there are (pass^k). A task is achieved when all its criteria are met.",
        [
            Column("agent", "Agent"),
            Column("runs", "Runs", "count"),
            Column("intents", "Intents achieved in all", "percent"),
            Column("n_intents", "Intents", "count"),
            Column("tasks", "Tasks achieved in all", "percent"),
            Column("n_tasks", "Tasks", "count"),
        ],
        rows,
    )
