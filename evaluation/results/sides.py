"""What differs between two sides of a comparison besides how they scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluation.results.benchmark_results import Results
from evaluation.results.document import origin

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
