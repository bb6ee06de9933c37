"""What a chart draws and the table beside it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from evaluation.metrics.intervals import Estimate
from evaluation.metrics.texts import UNKNOWN, percent
from evaluation.results.tables import ResultsTable

Unit = Literal["text", "percent", "points", "number", "count", "probability"]
OPEN_CELLS = 120
"""Of a table before the rest is folded."""


@dataclass(frozen=True)
class Column:
    """``low`` and ``high`` of its value stand in a row under ``<key>_low`` and ``<key>_high``."""

    key: str
    heading: str
    unit: Unit = "text"


@dataclass(frozen=True)
class Chart:
    """``kind``: ``stack`` (shares of each row), ``scatter``, ``pairs`` (two values of a row and the way between),
    ``intervals`` (a value of each row with its interval) or ``heat`` (rows × columns)."""

    kind: Literal["stack", "scatter", "pairs", "intervals", "heat"]
    label: str = "agent"
    """Key of the row's name."""
    x: Sequence[str] = ()
    """Keys of the values drawn from left to right."""
    y: str = ""
    group: str = ""
    """Key by whose values rows are drawn apart."""
    diagonal: bool = False
    """Where both values are equal."""
    trend: bool = False
    """Whether to draw the line of least squares."""
    drawn: int = 1_000
    """Rows that are drawn; the table has all."""


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    note: str
    """How to read it, with what it says in a sentence."""
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    """Values by column; shares between 0 and 1. ``sessions`` filters the sessions behind the row; ``links`` has
    such filters, or addresses, by column."""
    chart: Chart | None = None
    shown: int = 200
    """Rows on a page; the downloads have all."""
    empty: str = "The chosen pilots have nothing to show here yet."
    scripted: tuple[str, ...] = ()
    """Agents that are never evidence, marked wherever their names stand."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Single numbers that the note states."""

    @property
    def listed(self) -> Sequence[Mapping[str, Any]]:
        return self.rows[: self.shown]

    @property
    def open_rows(self) -> int:
        """How many rows stand on the page before the fold: on a phone each cell takes a line."""
        return min(40, max(5, OPEN_CELLS // len(self.columns)))

    def document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "columns": [{"key": row.key, "heading": row.heading, "unit": row.unit} for row in self.columns],
            "rows": [{key: value for key, value in row.items() if key != "links"} for row in self.rows],
            **({"facts": dict(self.facts)} if self.facts else {}),
        }

    def drawing(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What the script draws: ``rows`` are its own, with ``href`` and ``<key>_href``."""
        assert self.chart is not None
        return {
            "name": self.name,
            "title": self.title,
            **asdict(self.chart),
            "headings": {row.key: self.marked(row.heading) for row in self.columns},
            "units": {row.key: row.unit for row in self.columns},
            "rows": [row | {"agent": self.marked(row["agent"])} if "agent" in row else row for row in rows],
        }

    @property
    def heads(self) -> list[Column]:
        return [replace(column, heading=self.marked(column.heading)) for column in self.columns]

    def marked(self, name: str) -> str:
        return f"{name} (scripted)" if name in self.scripted else name

    def table(self) -> ResultsTable:
        """For papers."""
        head = [_heading(column, self.marked(column.heading)) for column in self.columns]
        rows = [[self.marked(cell_text(row, column)) for column in self.columns] for row in self.rows]
        return ResultsTable(self.title, head, rows)

    def raw_table(self) -> ResultsTable:
        """For spreadsheets: numbers as they are, intervals in columns of their own."""
        keys = [key for column in self.columns for key in self._raw_keys(column.key)]
        return ResultsTable(self.title, keys, [[self.marked(_raw(row.get(key))) for key in keys] for row in self.rows])

    def _raw_keys(self, key: str) -> list[str]:
        return [key, *[f"{key}_{end}" for end in ("low", "high") if any(f"{key}_{end}" in row for row in self.rows)]]


def estimate_values(key: str, value: Estimate) -> dict[str, float | None]:
    """As a row has them."""
    return {key: value.mean, f"{key}_low": value.low, f"{key}_high": value.high}


def cell_text(row: Mapping[str, Any], column: Column) -> str:
    text = value_text(row.get(column.key), column.unit)
    low, high = (row.get(f"{column.key}_{end}") for end in ("low", "high"))
    if low is None or high is None or text == UNKNOWN:
        return text
    return f"{text} ({value_text(low, column.unit)} to {value_text(high, column.unit)})"


def value_text(value: Any, unit: Unit) -> str:
    if value is None:
        return UNKNOWN
    if unit == "percent":
        return percent(value)
    if unit == "points":
        return f"{100 * value:+.1f}"
    if unit == "probability":
        return f"{value:.3f}"
    return f"{value:.2f}" if unit == "number" else str(value)


def _heading(column: Column, name: str) -> str:
    return f"{name}, %" if column.unit == "percent" else name


def _raw(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
