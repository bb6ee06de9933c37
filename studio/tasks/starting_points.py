"""Built-in starting points: whole tasks with blanks to fill in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from studio.domain.task import TaskSpec
from studio.domain.uids import default_uid

FILE = Path(__file__).resolve().parents[2] / "fixtures" / "starting_points.json"


@dataclass(frozen=True)
class StartingPoint:
    key: str
    name: str
    when: str
    """When to use it, in a sentence."""
    spec: TaskSpec
    """Blanks read ``<insert …>``, which the checks report."""


@lru_cache(maxsize=1)
def starting_points() -> dict[str, StartingPoint]:
    return {row["key"]: _read(row) for row in json.loads(FILE.read_text("utf-8"))}


def _read(row: dict[str, Any]) -> StartingPoint:
    key, name, when = (row.pop(field) for field in ("key", "name", "when"))
    uids = [default_uid("", key, "intents", number) for number in range(1, len(row["intents"]) + 1)]
    for uid, intent in zip(uids, row["intents"], strict=True):
        intent |= {"uid": uid, "recoverable_from": intent.pop("from")}
    for number, item in enumerate(row["checklist"], 1):
        follows = [uids[position - 1] for position in item["follows_from"]]
        item |= {"uid": default_uid("", key, "checklist", number), "follows_from": follows}
    return StartingPoint(key, name, when, TaskSpec.model_validate({"task_id": key, **row}))
