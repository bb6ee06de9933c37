"""Small tasks and episodes for tests of rules."""

from __future__ import annotations

from typing import Any

from studio.domain.base import FileRef
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, HiddenIntent, TaskSpec


def intent(content: str = "Metric units", **more: Any) -> HiddenIntent:
    return HiddenIntent(uid=content or "empty", content=content, **more)


def item(criterion: str = "In metres", **more: Any) -> ChecklistItem:
    return ChecklistItem(uid=criterion or "empty", criterion=criterion, **more)


def task(task_id: str, **more: Any) -> TaskSpec:
    sound = {"title": f"Title {task_id}", "initial_request": "Please plan the week.", "intents": (intent(),)}
    return TaskSpec(task_id=task_id, **(sound | more))


def scored(task_id: str, **more: Any) -> TaskSpec:
    return task(task_id, **({"checklist": (item(),)} | more))


def file(path: str, content: str = "a") -> FileRef:
    return FileRef(path=path, sha256=content * 64, size=1)


def after(*task_ids: str) -> tuple[Dependency, ...]:
    return tuple(Dependency(task_id=task_id) for task_id in task_ids)


def check(*tasks: TaskSpec, unplaced: tuple[TaskSpec, ...] = (), **persona: Any) -> list[Finding]:
    episode = EpisodeSpec(
        episode_id="ep", persona=PersonaSpec(user_id="Pilot", **persona), tasks=tasks, unplaced=unplaced
    )
    return find_problems(episode)
