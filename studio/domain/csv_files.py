"""CSV for spreadsheets. All that the studio exports as CSV is written here."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""A text that begins so is run by spreadsheets, also behind other blanks and further apostrophes."""
BLANK = "' \n\v\f\x1c\x1d\x1e\x1f\x85\u00a0\u2007\u200b\u2028\u2029\u202f\u3000\ufeff"


def write_csv(rows: Iterable[Iterable[object]], *, line_end: str = "\r\n") -> str:
    """Heads and captions are rows like any other. Texts that a spreadsheet would run get an apostrophe in front, which
    ``unguarded`` takes off again; numbers stay as they are."""
    out = io.StringIO()
    csv.writer(out, lineterminator=line_end).writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def guarded(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    return text.lstrip(BLANK).startswith(FORMULA)
