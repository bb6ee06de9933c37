"""Splits never cut a dependency group: its tasks are published together, or held out together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from studio.domain.episode import Split
from studio.domain.plan import PlacedTask, shape_of_tasks


def why_cut(tasks: Iterable[PlacedTask], splits: Mapping[str, Split], names: Mapping[str, str]) -> str:
    """The first dependency group whose tasks are of different splits, as a sentence; empty if there is none.

    ``splits``: by task id; others are public. ``names``: what people call a task, by its id.
    """
    by_id = {task.task_id: task for task in tasks}
    for members in shape_of_tasks(by_id.values()).groups:
        found: dict[Split, str] = {}
        for task_id in members:
            found.setdefault(splits.get(task_id, Split.PUBLIC), task_id)
        if len(found) > 1:
            group = next((f"The group “{by_id[each].group}”" for each in members if by_id[each].group), "A group")
            parts = " and ".join(
                f"“{names.get(task_id, task_id)}” is {split.label}" for split, task_id in found.items()
            )
            return f"{group} would be cut: {parts}. Tasks that build on each other are of one split: set it for all."
    return ""
