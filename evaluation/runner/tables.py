"""Tables as text, CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluation.metrics.texts import latex_tabular, latex_text
from studio.domain.csv_files import write_csv

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def as_text(table: Table) -> str:
    """For a terminal: what packs and models wrote cannot move its cursor."""
    cells = [[plain(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(table.columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([table.title, "", *lines, *(["", plain(table.note)] if table.note else [])]) + "\n"


def as_csv(table: Table) -> str:
    rows = [[Decimal(cell) if _is_number(cell) else cell for cell in row] for row in table.rows]
    return write_csv([table.columns, *rows], line_end="\n")


def as_latex(table: Table) -> str:
    note = [f"% {plain(table.note)}"] if table.note else []
    tabular = latex_tabular(_latex(table.columns), map(_latex, table.rows))
    return "\n".join((*note, *tabular, ""))


FORMATS = {"text": as_text, "csv": as_csv, "latex": as_latex}


def plain(text: str) -> str:
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _latex(cells: Sequence[str]) -> list[str]:
    return [latex_text(plain(cell)) for cell in cells]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", text) is not None
