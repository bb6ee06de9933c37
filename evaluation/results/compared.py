"""A comparison of two agents or pilots as a document and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results
from evaluation.results.document import origin
from evaluation.results.figures.figure import Column, cell_text
from evaluation.results.flips import Flip, find_flips
from evaluation.results.sides import differences
from evaluation.results.tables import HEADINGS, ResultsTable


def comparison_document(results: Results, first: str, second: str, mode: ScoringMode) -> dict[str, Any]:
    """Scores between 0 and 1, differences as second less first; sessions by key."""
    flips = find_flips(results, first, second, mode)
    return {
        **origin(results),
        "scoring": str(mode),
        "first": first,
        "second": second,
        "differences": differences(results, first, second),
        "metrics": [
            {
                "metric": found.metric,
                "difference": asdict(found.difference),
                "p": found.p,
                "stands": found.stands,
                "tasks": [{**asdict(task), "difference": task.difference} for task in found.tasks],
            }
            for found in results.comparisons(first, second, mode)
        ],
        "pairs": flips.pairs,
        "flipped": [_flip(flip) for flip in flips.flipped],
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "persona": flip.persona,
        "task": flip.task,
        "run": flip.run,
        "sessions": [flip.first, flip.second],
        "rose": [asdict(change) for change in flip.rose],
        "fell": [asdict(change) for change in flip.fell],
    }


def comparison_tables(document: Mapping[str, Any]) -> list[ResultsTable]:
    """A row per task for each metric, then a row per flipped pair of sessions."""
    first, second = document["first"], document["second"]
    columns = [Column("first", first, "percent"), Column("second", second, "percent")]
    columns.append(Column("difference", "Difference", "points"))
    tables = []
    for found in document["metrics"]:
        rows = [
            [task["persona"], task["task"], *(cell_text(_with_interval(task), column) for column in columns)]
            for task in found["tasks"]
        ]
        noise = "more than noise" if found["stands"] else "not more than noise"
        caption = f"{HEADINGS[found['metric']]} in percent, {document['scoring']} scoring: {noise}"
        tables.append(ResultsTable(caption, ["Persona", "Task", *(column.heading for column in columns)], rows))
    flipped = [
        [row["persona"], row["task"], str(row["run"]), _names(row["rose"]), _names(row["fell"])]
        for row in document["flipped"]
    ]
    tables.append(
        ResultsTable(f"What flipped from {first} to {second}", ["Persona", "Task", "Run", "Rose", "Fell"], flipped)
    )
    return tables


def _with_interval(task: Mapping[str, Any]) -> dict[str, Any]:
    return {**task, "difference_low": task["low"], "difference_high": task["high"]}


def _names(changes: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{change['name']}: {change['before']} to {change['after']}" for change in changes) or "–"
