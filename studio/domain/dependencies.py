"""Groups of tasks connected by dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from studio.domain.task import TaskSpec

K = TypeVar("K", int, str)


def dependency_groups(tasks: Sequence[TaskSpec]) -> list[tuple[str, ...]]:
    """Ids of tasks connected by dependencies: each group in run order, groups ordered by their first task."""
    links = [(dependency.task_id, task.task_id) for task in tasks for dependency in task.depends_on]
    return [group for group in connected_components([task.task_id for task in tasks], links) if len(group) > 1]


def connected_components(keys: Sequence[K], links: Iterable[tuple[K, K]]) -> list[tuple[K, ...]]:
    """The components of ``keys`` under ``links``, in the order of ``keys``. Links to other keys are ignored."""
    parent = {key: key for key in keys}

    def root(key: K) -> K:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for a, b in links:
        if a in parent and b in parent:
            parent[root(b)] = root(a)
    components: dict[K, list[K]] = {}
    for key in keys:
        components.setdefault(root(key), []).append(key)
    return [tuple(component) for component in components.values()]
