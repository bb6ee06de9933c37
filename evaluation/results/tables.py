"""Results as tables for papers and spreadsheets: CSV, Markdown, LaTeX."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.metrics.sessions import METRICS, STATUSES
from evaluation.metrics.texts import UNKNOWN, latex_tabular, latex_text, percent
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.model_answers import name_of
from studio.domain.csv_files import write_csv

HEADINGS = {"proc": "Proc", "comp": "Comp"}
MODEL_COLUMNS = {
    "calls": "Calls",
    "prompt_tokens": "Tokens in",
    "cached_tokens": "cached",
    "completion_tokens": "Tokens out",
    "reasoning_tokens": "thoughts",
    "untold": "Unmetered",
    "cut": "Cut",
    "filtered": "Filtered",
    "refused": "Refused",
    "empty": "Empty",
    "empty_turns": "Empty turns",
    "too_long": "Too long",
    "invalid_calls": "Invalid calls",
}


@dataclass(frozen=True)
class Mark:
    """Best or second best of its column, where the difference from the next is more than noise."""

    text: str
    rank: str = ""


Row = Sequence[str | Mark]


@dataclass(frozen=True)
class ResultsTable:
    caption: str
    head: Sequence[str]
    rows: Sequence[Row]


def leaderboard_table(document: Mapping[str, Any], mode: ScoringMode) -> ResultsTable:
    """As the paper's Table 1: percent with the standard deviation over runs, and the 95 % interval."""
    board = [row for row in document["leaderboard"] if row["scoring"] == mode]
    personas = sorted({name for row in board for name in row["personas"]})
    head = ["Agent"]
    columns: list[list[str | Mark]] = []
    for name, of in [("", lambda row: row), *[(f" {name}", _persona(name)) for name in personas]]:
        for metric in METRICS:
            head.append(f"{HEADINGS[metric]}{name}")
            columns.append(
                [
                    Mark(estimate_text(of(row).get(metric, {}), short=bool(name)), "" if name else row["marks"][metric])
                    for row in board
                ]
            )
    counts = ("scored", "failed", "missing", "blocked")
    head += ["Sessions", "Failed", "Missing", "Blocked"]
    rows = [
        [_label(document, row["agent"]), *[column[at] for column in columns], *[str(row[key]) for key in counts]]
        for at, row in enumerate(board)
    ]
    return ResultsTable(f"Proc and Comp in percent, {_how(document, mode)}", head, rows)


def status_table(document: Mapping[str, Any]) -> ResultsTable:
    """As the paper's Table 7: shares of the intents that came to an end."""
    rows = []
    for row in document["statuses"]:
        total = sum(row[status] for status in STATUSES)
        shares = [percent(row[status] / total if total else None) for status in STATUSES]
        rows.append([_label(document, row["agent"]), *shares, str(total)])
    return ResultsTable(
        "Intents by terminal status, in percent", ["Agent", *map(str.capitalize, STATUSES), "Intents"], rows
    )


def model_table(document: Mapping[str, Any]) -> ResultsTable:
    """What the agents' models did, call by call."""
    rows = [
        [
            _label(document, row["agent"]),
            "; ".join(map(name_of, row["answered_by"])) or UNKNOWN,
            *(UNKNOWN if row[name] is None else str(row[name]) for name in MODEL_COLUMNS),
        ]
        for row in document["models"]
    ]
    return ResultsTable("Answers of the agents’ models", ["Agent", "Answered by", *MODEL_COLUMNS.values()], rows)


def category_table(document: Mapping[str, Any], mode: ScoringMode) -> ResultsTable:
    """As the paper's Table 8: Proc / Comp by kind of task."""
    cells = [cell for cell in document["categories"] if cell["scoring"] == mode]
    agents = sorted({cell["agent"] for cell in cells})
    kinds = list(dict.fromkeys((cell["category"], cell["name"]) for cell in cells))
    by_place = {(cell["category"], cell["agent"]): cell for cell in cells}
    rows = []
    for code, name in kinds:
        own = {agent: by_place.get((code, agent)) for agent in agents}
        tasks = max(cell["tasks"] for cell in own.values() if cell)
        texts = [
            " / ".join(percent(cell[metric]["mean"]) for metric in METRICS) if cell else UNKNOWN
            for cell in own.values()
        ]
        rows.append([code if code == name else f"{code} · {name}", str(tasks), *texts])
    head = ["Category", "Tasks", *(_label(document, agent) for agent in agents)]
    return ResultsTable(f"Proc / Comp by category, in percent, {_how(document, mode)}", head, rows)


def tables_of(document: Mapping[str, Any]) -> list[ResultsTable]:
    return [
        *[leaderboard_table(document, ScoringMode(mode)) for mode in document["scorings"]],
        status_table(document),
        *([model_table(document)] if any(row["calls"] for row in document["models"]) else []),
        *[category_table(document, ScoringMode(mode)) for mode in document["scorings"]],
    ]


def number_tables(document: Mapping[str, Any]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """For spreadsheets, by name: each number in a column of its own, scores as shares between 0 and 1."""
    named = {name: document[name] for name in ("leaderboard", "statuses", "models", "categories", "sessions")}
    return named | {f"by_{label}": rows for label, rows in document["breakdowns"].items()}


def csv_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Without a caption. What a cell holds more of, has columns of its own: ``proc_mean``, ``proc_low``."""
    flat = [dict(_cells("", row)) for row in rows]
    head = list(dict.fromkeys(key for row in flat for key in row))
    return write_csv([head, *([row.get(key, "") for key in head] for row in flat)])


def _cells(name: str, value: object) -> Iterable[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _cells(f"{name}_{key}" if name else str(key), inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield name, "; ".join(map(str, value))
    else:
        yield name, "" if value is None else value


def zip_of(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
    """A CSV file of each table that has rows."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in tables.items():
            if rows:
                archive.writestr(zipfile.ZipInfo(f"{name}.csv"), csv_of(rows), zipfile.ZIP_DEFLATED)
    return into.getvalue()


def render_tables(tables: Sequence[ResultsTable], style: str) -> str:
    """``style``: ``csv``, ``markdown`` or ``latex``."""
    return "\n".join({"csv": _csv, "markdown": _markdown, "latex": _latex}[style](table) for table in tables)


def estimate_text(estimate: Mapping[str, Any], *, short: bool = False) -> str:
    """``67.0 ± 2.1 (63.5–70.5)``; ``short`` leaves out all but the mean."""
    if estimate.get("mean") is None:
        return UNKNOWN
    text = percent(estimate["mean"])
    if short:
        return text
    if estimate["sd"] is not None:
        text += f" ± {percent(estimate['sd'])}"
    if estimate["low"] is not None:
        text += f" ({percent(estimate['low'])}–{percent(estimate['high'])})"
    return text


def _how(document: Mapping[str, Any], mode: ScoringMode) -> str:
    return "; ".join((f"{mode} scoring", *document["terms"]))


def _persona(name: str) -> Any:
    return lambda row: row["personas"].get(name, {})


def _label(document: Mapping[str, Any], agent: str) -> str:
    scripted = any(row["scripted"] and row["agent"] == agent for row in document["leaderboard"])
    return f"{agent} (scripted)" if scripted else agent


def _csv(table: ResultsTable) -> str:
    return write_csv([[table.caption], table.head, *(map(_text, row) for row in table.rows)], line_end="\n")


def _markdown(table: ResultsTable) -> str:
    def cell(value: str | Mark) -> str:
        text = _text(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
        rank = value.rank if isinstance(value, Mark) else ""
        return f"**{text}**" if rank == "best" else f"_{text}_" if rank == "second" else text

    lines = [f"{table.caption}", "", _line(map(cell, table.head)), _line("---" for _ in table.head)]
    return "\n".join([*lines, *[_line(map(cell, row)) for row in table.rows], ""])


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _latex(table: ResultsTable) -> str:
    def cell(value: str | Mark) -> str:
        text = latex_text(_text(value))
        rank = value.rank if isinstance(value, Mark) else ""
        return rf"\textbf{{{text}}}" if rank == "best" else rf"\underline{{{text}}}" if rank == "second" else text

    tabular = latex_tabular(list(map(cell, table.head)), (list(map(cell, row)) for row in table.rows))
    lines = [r"\begin{table}", rf"\caption{{{cell(table.caption)}}}", *tabular, r"\end{table}", ""]
    return "\n".join(lines)


def _text(value: str | Mark) -> str:
    return value.text if isinstance(value, Mark) else value
