"""Comma- and otherwise separated values as tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field

ROWS = 200
COLUMNS = 60
CELL = 400
"""Characters of a cell that are shown."""
SAMPLE = 16_384
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class TableRow:
    line: int
    """1-based, of its start in the file."""
    cells: tuple[str, ...]
    broken: str = ""
    """Why it is broken, or empty."""


@dataclass(frozen=True)
class PreviewTable:
    head: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()
    count: int = 0
    """Rows below the head, including those not shown."""
    broken: int = 0
    """Rows with too few or too many values."""
    first_broken: int = 0
    """Line of the first broken row."""
    name: str = ""
    """Of a spreadsheet's sheet."""
    separated_by: str = ""
    problem: str = field(default="")

    @property
    def more(self) -> int:
        return self.count - len(self.rows)


def read_table(text: str, *, tabs: bool = False) -> PreviewTable:
    """Read to the end, to count rows and find broken ones."""
    delimiter = "\t" if tabs else delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    head: tuple[str, ...] | None = None
    rows: list[TableRow] = []
    count = broken = first = 0
    problem = ""
    line = 1
    try:
        for values in reader:
            start, line = line, reader.line_num + 1
            if not values:
                continue
            if head is None:
                head = tuple(values)
                continue
            count += 1
            error = "" if len(values) == len(head) else f"{len(values)} values, but the header has {len(head)}"
            if error:
                broken += 1
                first = first or start
            if len(rows) < ROWS:
                rows.append(TableRow(start, cut(values), error))
    except csv.Error as error:
        problem = f"Line {max(reader.line_num, 1)} cannot be read: {error}."
    return PreviewTable(cut(head or ()), tuple(rows), count, broken, first, "", DELIMITERS[delimiter], problem)


def delimiter_of(text: str) -> str:
    lines = [line for line in text[:SAMPLE].split("\n")[:20] if line.strip()]

    def fits(delimiter: str) -> tuple[bool, int]:
        counts = [line.count(delimiter) for line in lines]
        maximum = max(counts, default=0)
        return (maximum > 0 and counts.count(maximum) * 2 > len(counts), maximum)

    return max(DELIMITERS, key=fits)


def cut(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value if len(value) <= CELL else f"{value[:CELL]}…" for value in list(values)[:COLUMNS])
