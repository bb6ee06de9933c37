"""Figures as pages show them: with links to the sessions behind each row, and beside the rows of a task's editor."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results
from evaluation.results.compared import differences, find_flips
from evaluation.results.figures.catalogue import FIGURES, FigureKind, build_figure
from evaluation.results.figures.figure import Figure, cell_text, value_text
from evaluation.results.figures.rules import separation_of
from studio.domain.task import TaskSpec

FLIPS = 100
"""Pairs of sessions on the page of a comparison."""


@dataclass(frozen=True)
class FigureCell:
    heading: str
    text: str
    interval: str
    is_number: bool
    link: str


def figure_lists(address_for: Callable[[str], str]) -> list[tuple[str, list[tuple[str, FigureKind, str]]]]:
    """By heading: names with their addresses."""
    kinds = sorted(FIGURES.items(), key=lambda item: not item[1].paper)
    return [
        (
            "As in the paper" if paper else "Beyond the paper",
            [(name, kind, address_for(name)) for name, kind in group],
        )
        for paper, group in groupby(kinds, lambda item: bool(item[1].paper))
    ]


def figure_cells(figure: Figure, sessions: str) -> list[list[FigureCell]]:
    """``sessions`` is the address of the list of sessions, with the choice of pilots."""
    return [[_cell(row, at, figure, sessions) for at in range(len(figure.columns))] for row in figure.listed]


def figure_body(results: Results, figure: Figure, mode: ScoringMode, address: str) -> SafeString:
    """Drawing and table, remembered; ``address``: the choice of pilots as a query string."""
    sessions = f"{reverse('evaluation:result_sessions', args=[results.benchmark.slug])}?{address}"

    def fill() -> str:
        table = figure_cells(figure, sessions)
        return render_to_string(
            "evaluation/results/parts/figure_body.html",
            {
                "figure": figure,
                "mode": mode.value,
                "first": table[: figure.open_rows],
                "rest": table[figure.open_rows :],
                "drawing": drawing_of(figure, sessions) if figure.chart else None,
            },
        )

    digest = hashlib.sha256(sessions.encode()).hexdigest()
    return mark_safe(results.once(("figure body", figure.name, mode.value, digest), fill))  # our own template


def comparison_html(results: Results, first: str, second: str, mode: ScoringMode) -> SafeString:
    """By metric, then what flipped; remembered."""

    def fill() -> str:
        flips = find_flips(results, first, second, mode)
        return render_to_string(
            "evaluation/results/parts/comparison.html",
            {
                "first": first,
                "second": second,
                "comparisons": [
                    (found, separation_of(results, first, second, found.metric, mode))
                    for found in results.comparisons(first, second, mode)
                ],
                "differences": differences(results, first, second),
                "flips": flips,
                "listed": flips.flipped[:FLIPS],
            },
        )

    return mark_safe(results.once(("comparison", first, second, mode.value), fill))  # our own template


def drawing_of(figure: Figure, sessions: str) -> dict[str, Any]:
    assert figure.chart is not None
    rows: list[dict[str, Any]] = []
    for row in figure.rows[: figure.chart.drawn]:
        links = {f"{key}_href": _address(link, sessions) for key, link in row.get("links", {}).items()}
        plain = {key: value for key, value in row.items() if key not in ("links", "sessions")}
        rows.append({**plain, **links, "href": _address(row.get("sessions"), sessions)})
    return figure.drawing(rows)


def _cell(row: Mapping[str, Any], at: int, figure: Figure, sessions: str) -> FigureCell:
    column = figure.columns[at]
    text = value_text(row.get(column.key), column.unit)
    whole = cell_text(row, column)
    interval = whole[len(text) + 2 : -1] if whole != text else ""
    link = row.get("links", {}).get(column.key) or (row.get("sessions") if at == 0 else None)
    return FigureCell(
        figure.marked(column.heading), figure.marked(text), interval, column.unit != "text", _address(link, sessions)
    )


def _address(link: Any, sessions: str) -> str:
    """Of a filter of sessions, or as it is."""
    return f"{sessions}&{urlencode(link)}" if isinstance(link, Mapping) else link or ""


MEANINGS = {
    "never met": "No session met it.",
    "always met": "Every session met it, so it tells nothing apart.",
    "against the total": "Strong sessions miss it more often than weak ones.",
}


@dataclass(frozen=True)
class ItemNote:
    uid: str
    kind: str
    """``intent`` or ``criterion``."""
    share: float
    """Of the sessions that met it."""
    discrimination: float | None
    n: int
    suspicion: str
    """Why it is a likely defect; empty if nothing speaks for it."""
    is_reworded: bool
    """Since it was piloted."""

    @property
    def met(self) -> int:
        return round(self.share * self.n)

    @property
    def meaning(self) -> str:
        return MEANINGS.get(self.suspicion, "")


def item_notes(results: Results, mode: ScoringMode, persona: str, task: TaskSpec) -> list[ItemNote]:
    """As the figure of all items has them."""
    texts = {row.uid: row.content for row in task.intents} | {row.uid: row.criterion for row in task.checklist}
    rows = build_figure(results, "items", mode.value).rows
    return [
        ItemNote(
            row["uid"],
            row["kind"],
            row["difficulty"],
            row["discrimination"],
            row["n"],
            row["suspicion"],
            is_reworded=row["item"].partition(": ")[2] != texts[row["uid"]],
        )
        for row in rows
        if (row["persona"], row["task"]) == (persona, task.task_id) and row["uid"] in texts
    ]
