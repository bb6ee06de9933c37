"""Dependencies inside an episode: which tasks hang together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from studio.domain.task import TaskSpec

K = TypeVar("K", int, str)


def dependency_groups(tasks: Sequence[TaskSpec]) -> list[tuple[str, ...]]:
    """Tasks that hang together through dependencies: each group's ids in run order, groups by their first task."""
    links = [(dependency.task_id, task.task_id) for task in tasks for dependency in task.depends_on]
    return [group for group in connected_components([task.task_id for task in tasks], links) if len(group) > 1]


def connected_components(keys: Sequence[K], links: Iterable[tuple[K, K]]) -> list[tuple[K, ...]]:
    """``keys`` in the parts that links join, parts and their keys in order. Links to other keys do not count."""
    home = {key: key for key in keys}

    def root(key: K) -> K:
        while home[key] != key:
            home[key] = home[home[key]]
            key = home[key]
        return key

    for one, other in links:
        if one in home and other in home:
            home[root(other)] = root(one)
    parts: dict[K, list[K]] = {}
    for key in keys:
        parts.setdefault(root(key), []).append(key)
    return [tuple(part) for part in parts.values()]
