"""One table an entity, as JSON Lines, for tools that read data sets. They carry the texts, not the files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from studio.domain.base import JsonDict
from studio.domain.episode import EpisodeSpec, Split

TABLES: Mapping[str, Mapping[str, type]] = {
    "personas": {"persona": str, "name": str, "occupation": str, "role": str, "tasks": int},
    "tasks": {
        "persona": str,
        "task": str,
        "position": int,
        "title": str,
        "category": str,
        "group": str,
        "trigger": str,
        "request": str,
        "intents": int,
        "items": int,
    },
    "intents": {"persona": str, "task": str, "position": int, "text": str, "scope": str, "initial_status": str},
    "criteria": {"persona": str, "task": str, "position": int, "text": str, "weight": float, "grader": str},
    "dependencies": {"persona": str, "task": str, "needs": str, "carries_over": str},
}
"""Columns of each table, all of them always there; ``canary`` follows."""


def flat_path(table: str, split: str, main: str) -> str:
    """``main``: the split of which most files are."""
    return f"flat/{table}.jsonl" if split == main else f"flat/{table}-{split}.jsonl"


NOT_CARRIED = "files, data of apps, web pages, tools, skills, rules, grader scripts and reference solutions"
"""By any flat file."""


def flat_rows(episode: EpisodeSpec, main: Split) -> dict[tuple[str, str], list[JsonDict]]:
    """By table and split; personas are of ``main``. Positions are from 1; that of a task is 0 if it is not placed."""
    persona, found = episode.persona, dict[tuple[str, str], list[JsonDict]]()
    tasks = [*enumerate(episode.tasks, start=1), *((0, task) for task in episode.unplaced)]
    about = (persona.user_id, persona.name, persona.occupation, persona.role_text)
    found["personas", main] = [_row("personas", *about, len(tasks))]
    for position, task in tasks:
        rows = {name: found.setdefault((name, episode.split_of(task.task_id)), []) for name in TABLES}
        own = (persona.user_id, task.task_id)
        about_task = (task.title, task.category, task.group, task.trigger.kind, task.initial_request)
        rows["tasks"].append(_row("tasks", *own, position, *about_task, len(task.intents), len(task.scored_items)))
        rows["intents"] += [
            _row("intents", *own, at, intent.content, intent.scope, intent.initial_status)
            for at, intent in enumerate(task.intents, start=1)
        ]
        rows["criteria"] += [
            _row("criteria", *own, at, item.criterion, float(item.weight), item.grader)
            for at, item in enumerate(task.scored_items, start=1)
        ]
        rows["dependencies"] += [
            _row("dependencies", *own, needed.task_id, needed.carries_over) for needed in task.depends_on
        ]
    return found


def flat_lines(rows: Iterable[JsonDict], canary: str) -> bytes:
    return "".join(f"{json.dumps({**row, 'canary': canary}, ensure_ascii=False)}\n" for row in rows).encode()


def _row(table: str, *values: object) -> JsonDict:
    return dict(zip(TABLES[table], values, strict=True))
