"""Our own labelled requests, criteria and episodes, in the form of personas and their labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from studio.domain.base import FileRef
from studio.domain.checks import Known, find_problems
from studio.domain.checks.opinions import Opinion
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec

LABELS = Path(__file__).resolve().parents[1] / "data" / "labels"


def own_episodes(name: str) -> list[EpisodeSpec]:
    """Episodes of the set ``name``, with only what dependencies are judged by."""
    return [_episode(row["persona"], row["tasks"]) for row in _rows("own_episodes", name)]


def own_tasks(name: str) -> list[EpisodeSpec]:
    """One task per profession, with labelled intents and criteria."""
    return [_episode(row["role"], [{"id": row["role"]} | row]) for row in _task_rows(name)]


def own_findings(name: str, opinions: Mapping[str, Opinion] | None = None) -> list[Finding]:
    """Findings of the rules that have labels."""
    items = [
        finding
        for episode in own_tasks(name)
        for finding in find_problems(episode, known=Known(opinions=opinions or {}))
    ]
    pairs = [finding for episode in own_episodes(name) for finding in find_problems(episode)]
    return items + [finding for finding in pairs if finding.rule == "undeclared-dependency"]


def own_labels(name: str) -> dict[str, Any]:
    """In the form of the personas' label files."""
    rows = _task_rows(name)
    return {
        "readings": [{row["role"]: row["readings"]["intents"][reading] for row in rows} for reading in (0, 1)],
        "intents": {row["role"]: "".join(degree for degree, _ in row["intents"]) for row in rows},
        "requirements": {row["role"]: [count for count, _, _ in row["checklist"]] for row in rows},
        "exact": {row["role"]: [n for n, (_, exact, _) in enumerate(row["checklist"], 1) if exact] for row in rows},
        "undeclared": {task["id"]: task["undeclared"] for row in _rows("own_episodes", name) for task in row["tasks"]},
    }


def own_leaks() -> tuple[EpisodeSpec, dict[str, str]]:
    """Single sentences: a task for each pair of a request and an intent, and its label."""
    rows = json.loads((LABELS / "own_leaks.json").read_text("utf-8"))
    tasks = [{"id": f"s{n}", "request": request, "intents": [intent]} for n, (_, request, intent) in enumerate(rows)]
    return _episode("sentences", tasks), {f"s{n}": row[0] for n, row in enumerate(rows)}


def _task_rows(name: str) -> list[dict[str, Any]]:
    return _rows("own_tasks", name) + _rows("own_offices", name)


def _rows(file: str, name: str) -> list[dict[str, Any]]:
    return [row for row in json.loads((LABELS / f"{file}.json").read_text("utf-8")) if row["set"] == name]


def _episode(name: str, tasks: Iterable[dict[str, Any]]) -> EpisodeSpec:
    return EpisodeSpec(episode_id=name, persona=PersonaSpec(user_id=name), tasks=tuple(_task(task) for task in tasks))


def _task(row: dict[str, Any]) -> TaskSpec:
    """Labelled parts are lists with the sentence last; those of episodes are plain sentences."""
    return TaskSpec(
        task_id=row["id"],
        title=row.get("title", ""),
        initial_request=row["request"],
        intents=tuple(HiddenIntent(uid=f"i{n}", content=_text(part)) for n, part in enumerate(row["intents"])),
        checklist=tuple(
            ChecklistItem(uid=f"c{n}", criterion=_text(part)) for n, part in enumerate(row.get("checklist", ()))
        ),
        assets=tuple(FileRef(path=path, sha256="", size=0) for path in row.get("files", ())),
        depends_on=tuple(Dependency(task_id=other) for other in row.get("depends_on", ())),
    )


def _text(part: Any) -> str:
    return str(part if isinstance(part, str) else part[-1])
