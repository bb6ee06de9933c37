"""How often an agent achieves the same thing in every one of its runs."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from evaluation.judging.judged import JudgedSession
from evaluation.metrics.reliability import Played, agent_reliability
from evaluation.metrics.sessions import SessionRow
from evaluation.protocol.modes import Arm
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.benchmark_results import Results
from evaluation.results.figures.figure import Column, Figure
from studio.domain.task import TaskSpec


def in_every_run(results: Results, mode: ScoringMode) -> Figure:
    sessions: dict[str, list[Played]] = defaultdict(list)
    for pilot, session, row in results.played:
        if row.result.outcome != "missing" and session.run.arm != Arm.WITHOUT:
            sessions[row.agent].append(_played(row, pilot.task(session), pilot.judged[row.key], mode))
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


def _played(row: SessionRow, task: TaskSpec, judged: JudgedSession, mode: ScoringMode) -> Played:
    failed = row.result.outcome == "failed"
    achieved = {
        index: not failed and judged.status(index).status in COVERED
        for index, intent in enumerate(task.intents, start=1)
        if intent.initial_status != "provided"
    }
    comp = None if task.is_setup else 0.0 if failed else row.result.comp[mode]
    return Played((row.persona, row.result.task_id), achieved, comp)
