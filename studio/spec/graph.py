"""Dependencies inside an episode: which tasks hang together."""

from __future__ import annotations

from collections.abc import Sequence

from studio.spec.task import TaskSpec


def dependency_groups(tasks: Sequence[TaskSpec]) -> list[tuple[str, ...]]:
    """Tasks that hang together through dependencies: each group's ids in run order, groups by their first task."""
    home = {task.task_id: task.task_id for task in tasks}

    def root(task_id: str) -> str:
        while home[task_id] != task_id:
            home[task_id] = home[home[task_id]]
            task_id = home[task_id]
        return task_id

    for task in tasks:
        for dependency in task.depends_on:
            if dependency.task_id in home:
                home[root(task.task_id)] = root(dependency.task_id)
    groups: dict[str, list[str]] = {}
    for task in tasks:
        groups.setdefault(root(task.task_id), []).append(task.task_id)
    return [tuple(group) for group in groups.values() if len(group) > 1]
