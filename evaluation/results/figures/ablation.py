"""What earlier sessions are worth (paper, Figure 5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.metrics.comparison import AblatedSession, Comparison, compare_arms, unchanged_tasks
from evaluation.metrics.sessions import METRICS, Metric
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results
from evaluation.results.figures.figure import Chart, Column, Figure, estimate_values

EMPTY = (
    "None of the chosen pilots ran an ablation. Start a pilot in the mode “Ablation”: it runs the last task of each "
    "dependency group after its earlier sessions and without them."
)
PAIRED = [
    Column("proc_without", "Proc without", "percent"),
    Column("proc_with", "Proc with", "percent"),
    Column("proc_drop", "Drop of Proc", "points"),
    Column("comp_without", "Comp without", "percent"),
    Column("comp_with", "Comp with", "percent"),
    Column("comp_drop", "Drop of Comp", "points"),
]
Arms = Mapping[str, Mapping[Metric, Comparison]]
"""By agent."""


def ablation(results: Results, mode: ScoringMode) -> Figure:
    arms = _arms(results, mode)
    rows: list[dict[str, Any]] = [
        {"agent": agent}
        | {f"{metric}_without": _mean(row.first for row in of[metric].tasks) for metric in METRICS}
        | {f"{metric}_with": _mean(row.second for row in of[metric].tasks) for metric in METRICS}
        | estimate_values("proc_drop", of["proc"].difference)
        | estimate_values("comp_drop", of["comp"].difference)
        | {"p": of["proc"].p, "n": len(of["proc"].tasks), "sessions": {"agent": agent}}
        for agent, of in arms.items()
    ]
    same = [f"{persona} · {task}" for persona, task in unchanged_tasks(of["proc"] for of in arms.values())]
    told = f" Removing the earlier sessions changes nothing in {_listed(same)}." if same else ""
    return Figure(
        "ablation",
        "With and without earlier sessions",
        "Last tasks of dependency groups, paired: after their earlier sessions, and without them. Proc is that of the "
        f"task’s own intents, not pooled. The interval of the drop redraws groups within each persona.{told}",
        [Column("agent", "Agent"), *PAIRED, Column("p", "p of Proc", "probability"), Column("n", "Tasks", "count")],
        rows,
        Chart("pairs", x=("proc_without", "proc_with")),
        empty=EMPTY,
        facts={"unchanged": same} if rows else {},
    )


def ablation_groups(results: Results, mode: ScoringMode) -> Figure:
    rows: list[dict[str, Any]] = []
    for agent, of in _arms(results, mode).items():
        comp = {(row.persona, row.task): row for row in of["comp"].tasks}
        for row in sorted(of["proc"].tasks, key=lambda row: row.difference):
            other = comp.get((row.persona, row.task))
            rows.append(
                {
                    "task": f"{row.persona} · {row.task}",
                    "agent": agent,
                    "proc_without": row.first,
                    "proc_with": row.second,
                    "proc_drop": row.difference,
                    "proc_drop_low": row.low,
                    "proc_drop_high": row.high,
                    "comp_without": other.first if other else None,
                    "comp_with": other.second if other else None,
                    "comp_drop": other.difference if other else None,
                    "n": len(row.first_sessions) + len(row.second_sessions),
                    "sessions": {"agent": agent, "persona": row.persona, "task": row.task},
                }
            )
    return Figure(
        "ablation_groups",
        "Earlier sessions, group by group",
        "The smallest drop first: a group at the top of the list does not need its earlier sessions.",
        [Column("task", "Last task"), Column("agent", "Agent"), *PAIRED, Column("n", "Sessions", "count")],
        rows,
        Chart("pairs", label="task", x=("proc_without", "proc_with"), group="agent"),
        empty=EMPTY,
    )


def _arms(results: Results, mode: ScoringMode) -> Arms:
    without = {row.agent for row in results.alone}
    sessions: dict[str, list[AblatedSession]] = defaultdict(list)
    for with_earlier, rows in ((True, results.rows), (False, results.alone)):
        for row in rows:
            if row.agent in without:
                sessions[row.agent].append(AblatedSession(row.key, row.persona, row.run[1], with_earlier, row.result))
    return {
        agent: {metric: compare_arms(own, metric, mode) for metric in METRICS}
        for agent, own in sorted(sessions.items())
    }


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return sum(known) / len(known) if known else None


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
