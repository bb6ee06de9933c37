"""How often an agent achieves the same thing in every one of its runs."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from evaluation.metrics.reliability import Played, agent_reliability, played
from evaluation.protocol.modes import Arm
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results
from evaluation.results.figures.figure import Column, Figure


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
