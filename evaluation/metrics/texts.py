"""How scores stand in tables, and tables in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

UNKNOWN = "–"
_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "\n": " ",
}


def percent(value: float | None) -> str:
    """0.123 → 12.3; a dash if there is no value."""
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def latex_tabular(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines. Cells are LaTeX; the first column is aligned to the left, the others to the right."""
    return [
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        _row(head),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
