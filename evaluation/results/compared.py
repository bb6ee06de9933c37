"""A comparison of two agents or pilots as a document and as tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.metrics.sessions import ScoredSession
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.benchmark_results import Results
from evaluation.results.document import origin
from evaluation.results.figures.figure import Column, cell_text
from evaluation.results.loading import DecidedSession
from evaluation.results.tables import HEADINGS, ResultsTable


@dataclass(frozen=True)
class FlippedDecision:
    """An intent or criterion that one of two sessions met."""

    name: str
    """``Intent 2`` or ``Criterion 1``."""
    text: str
    before: str
    after: str


@dataclass(frozen=True)
class Flip:
    """Two sessions of one task in which something came out otherwise."""

    persona: str
    task: str
    run: int
    """The how-manieth of the task on both sides, from 1."""
    first: int
    second: int
    rose: Sequence[FlippedDecision]
    fell: Sequence[FlippedDecision]

    @property
    def changes(self) -> int:
        return len(self.rose) + len(self.fell)


@dataclass(frozen=True)
class Flips:
    pairs: int
    """Sessions that stand opposite each other."""
    flipped: Sequence[Flip]
    """Most changes first."""


@dataclass(frozen=True)
class _Outcome:
    name: str
    text: str
    word: str
    is_met: bool


def find_flips(results: Results, first: str, second: str, mode: ScoringMode) -> Flips:
    return results.once(("flips", first, second, mode.value), lambda: _find(results, first, second, mode))


def _find(results: Results, first: str, second: str, mode: ScoringMode) -> Flips:
    ours, theirs = (_by_task(results.of_side(side)) for side in (first, second))
    pairs = 0
    flipped = []
    for (persona, task), sessions in ours.items():
        for number, (left, right) in enumerate(zip(sessions, theirs.get((persona, task), ()), strict=False), start=1):
            if left not in results.decisions or right not in results.decisions:
                continue
            pairs += 1
            before, after = (_outcomes(results.decisions[key], mode) for key in (left, right))
            changes = [(before[uid], now) for uid, now in after.items() if uid in before]
            rose = [_change(was, now) for was, now in changes if now.is_met and not was.is_met]
            fell = [_change(was, now) for was, now in changes if was.is_met and not now.is_met]
            if rose or fell:
                flipped.append(Flip(persona, task, number, left, right, rose, fell))
    return Flips(pairs, sorted(flipped, key=lambda flip: -flip.changes))


def _by_task(scored: Sequence[ScoredSession]) -> Mapping[tuple[str, str], Sequence[int]]:
    tasks: dict[tuple[str, str], list[tuple[tuple[int, int], int]]] = defaultdict(list)
    for item in scored:
        tasks[item.row.persona, item.row.result.task_id].append((item.row.run, item.row.key))
    return {key: [session for _, session in sorted(rows)] for key, rows in sorted(tasks.items())}


def _outcomes(session: DecidedSession, mode: ScoringMode) -> dict[str, _Outcome]:
    """By uid."""
    found = {}
    for index, intent in enumerate(session.task.intents, start=1):
        status = session.judged.status(index).status
        found[intent.uid] = _Outcome(f"Intent {index}", intent.content, status, status in COVERED)
    for item, met in session.criteria(mode):
        if met is not None:
            word = "met" if met else "not met"
            found[item.uid or item.criterion] = _Outcome(f"Criterion {item.index}", item.criterion, word, met)
    return found


def _change(before: _Outcome, after: _Outcome) -> FlippedDecision:
    return FlippedDecision(after.name, after.text, before.word, after.word)


PARTS = {
    "agent": "model of the agent",
    "kind": "kind of agent",
    "params": "parameters of the agent",
    "user_model": "model of the user",
    "mode": "mode",
    "protocol": "protocol",
    "agent_loop": "version of the agent’s loop",
    "limits": "limits",
}
JUDGING = {"judge": "judge", "prompts": "judge’s prompts", "rules": "credit rules"}


def comparison_document(results: Results, first: str, second: str, mode: ScoringMode) -> dict[str, Any]:
    """Scores between 0 and 1, differences as second less first; sessions by key."""
    flips = find_flips(results, first, second, mode)
    return {
        **origin(results),
        "scoring": str(mode),
        "first": first,
        "second": second,
        "labels": [results.label_of(first), results.label_of(second)],
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
    first, second = document["labels"]
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


def comparison_numbers(document: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """For spreadsheets: a row per task and metric with the numbers as they are, and a row per flipped pair."""
    tasks = [{"metric": found["metric"], **task} for found in document["metrics"] for task in found["tasks"]]
    metrics = [{name: value for name, value in found.items() if name != "tasks"} for found in document["metrics"]]
    flipped = [row | {side: _names(row[side]) for side in ("rose", "fell")} for row in document["flipped"]]
    return {"differences": metrics, "tasks": tasks, "flipped": flipped}


def _with_interval(task: Mapping[str, Any]) -> dict[str, Any]:
    return {**task, "difference_low": task["low"], "difference_high": task["high"]}


def _names(changes: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{change['name']}: {change['before']} to {change['after']}" for change in changes) or "–"


def differences(results: Results, first: str, second: str) -> list[str]:
    """In words, empty if both ran the same."""
    by_number = {row["number"]: row for row in origin(results)["pilots"]}
    sides = [[by_number[pilot.number] for pilot in results.pilots_of(side)] for side in (first, second)]
    found = []
    for key, words in PARTS.items():
        if _values(sides[0], key) != _values(sides[1], key):
            found.append(words)
    for key, words in JUDGING.items():
        ours, theirs = ([row["judging"] for row in side] for side in sides)
        if _values(ours, key) != _values(theirs, key):
            found.append(words)
    before, after = (_revisions(side) for side in sides)
    if edited := sum(before[task] != after[task] for task in before.keys() & after.keys()):
        found.append(f"wording of {edited} task{'s' if edited > 1 else ''}")
    if alone := len(before.keys() ^ after.keys()):
        found.append(f"{alone} task{'s' if alone > 1 else ''} that only one side has")
    return found


def _values(rows: list[Mapping[str, Any]], key: str) -> set[str]:
    return {json.dumps(row[key], sort_keys=True) for row in rows}


def _revisions(rows: list[Mapping[str, Any]]) -> dict[tuple[str, str], set[str]]:
    tasks: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for task in row["tasks"]:
            tasks.setdefault((task["persona"], task["task"]), set()).add(task["sha256"])
    return tasks
