"""Packs to run, written as releases are, without a database."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.feasibility.packed import solution_files
from evaluation.protocol.given import GivenTurn
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import write_persona
from studio.domain.task import TaskSpec
from tests.packs import write_pack

CANARY = "0e6f7a3e-0000-4000-8000-000000000000"


def asset(path: str, text: str, contents: dict[str, bytes]) -> FileRef:
    content = text.encode()
    sha256 = hashlib.sha256(content).hexdigest()
    contents[sha256] = content
    return FileRef(path=path, sha256=sha256, size=len(content))


def write(
    path: Path,
    personas: Mapping[str, Sequence[TaskSpec]],
    contents: Mapping[str, bytes] | None = None,
    said: Mapping[str, Sequence[int]] | None = None,
    splits: Mapping[str, Split] | None = None,
    more: Mapping[str, Any] | None = None,
    solutions: Mapping[str, GivenTurn] | None = None,
) -> Path:
    """``said``: by task, positions of intents that its request says. ``splits`` and ``solutions``: by task. ``more`` of
    its manifest."""
    files: dict[str, bytes] = {}
    rows: list[dict[str, Any]] = []
    for name, tasks in personas.items():
        own = {task.task_id: splits[task.task_id] for task in tasks if task.task_id in splits} if splits else {}
        episode = EpisodeSpec(episode_id=name, persona=PersonaSpec(user_id=name), tasks=tuple(tasks), splits=own)
        files |= write_persona(episode, contents or {})
        for task in tasks:
            if turn := (solutions or {}).get(task.task_id):
                files |= solution_files(name, task.task_id, turn, contents or {}, CANARY)
        rows += [
            {"persona": name, "task": task.task_id, "said_in_request": list((said or {}).get(task.task_id, ()))}
            for task in tasks
        ]
    manifest = {
        "format": "pi-bench-v2",
        "benchmark": {"slug": "bench", "name": "Bench", "description": ""},
        "version": "1.0",
        "canary": CANARY,
        "tasks": rows,
        **(more or {}),
    }
    path.write_bytes(write_pack(manifest, files))
    return path
