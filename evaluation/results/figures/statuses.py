"""How hidden intents came to light (paper, Table 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.metrics.leaderboard import status_counts
from evaluation.metrics.sessions import STATUSES, SessionRow
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import UNGROUPED, Results, category_names
from evaluation.results.figures.figure import Chart, Column, Figure

NOTE = (
    "Completed: done without being asked. Inferred: asked for with a question that hit it. Provided: the user had to "
    "say it. The first two count for Proc."
)
SHARES = [*[Column(status, status.capitalize(), "percent") for status in STATUSES], Column("n", "Intents", "count")]


def statuses(results: Results, mode: ScoringMode) -> Figure:
    rows = [_row(counts) | {"agent": agent} for agent, counts in status_counts(results.rows).items()]
    rows = [row | {"sessions": {"agent": row["agent"]}} for row in rows if row["n"]]
    return Figure(
        "statuses",
        "Terminal statuses of intents",
        NOTE,
        [Column("agent", "Agent"), *SHARES],
        rows,
        Chart("stack", x=STATUSES),
    )


def statuses_by_persona(results: Results, mode: ScoringMode) -> Figure:
    return _split(results, "persona", "Persona", lambda row: row.persona, {})


def statuses_by_category(results: Results, mode: ScoringMode) -> Figure:
    names = category_names(results.benchmark)
    return _split(results, "category", "Category", lambda row: row.labels.get("category", ""), names)


def _split(
    results: Results, key: str, heading: str, value_of: Callable[[SessionRow], str], names: Mapping[str, str]
) -> Figure:
    rows: list[dict[str, Any]] = []
    for value in sorted({value_of(row) for row in results.rows}):
        counted = status_counts(row for row in results.rows if value_of(row) == value)
        for agent, counts in counted.items():
            if (row := _row(counts))["n"]:
                name = f"{value} · {names[value]}" if value in names else value or UNGROUPED
                rows.append({key: name, "agent": agent} | row | {"sessions": {"agent": agent, key: value}})
    return Figure(
        f"statuses_by_{key}",
        f"Terminal statuses by {heading.lower()}",
        NOTE,
        [Column(key, heading), Column("agent", "Agent"), *SHARES],
        rows,
        Chart("stack", x=STATUSES, group=key),
    )


def _row(counts: Mapping[str, int]) -> dict[str, Any]:
    total = sum(counts[status] for status in STATUSES)
    return {status: counts[status] / total if total else None for status in STATUSES} | {"n": total}
