"""Cuts overlong texts before rules see them."""

from __future__ import annotations

from typing import Any

from studio.domain.anchors import ROW_TEXTS, TEXT_FIELDS
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec

LONGEST = 40_000
"""Characters of one text; the same limit applies to files shown to judges."""


def within_bounds(episode: EpisodeSpec) -> EpisodeSpec:
    """The episode with every text cut to LONGEST + 1 characters; the same object if nothing is longer."""
    cut = {name: tuple(map(_cut, getattr(episode, name))) for name in ("tasks", "unplaced")}
    unchanged = all(a is b for name in cut for a, b in zip(cut[name], getattr(episode, name), strict=True))
    return episode if unchanged else episode.model_copy(update=cut)


def _cut(task: TaskSpec) -> TaskSpec:
    changed: dict[str, Any] = {
        name: text[: LONGEST + 1] for name in TEXT_FIELDS if len(text := getattr(task, name)) > LONGEST
    }
    for name, part in ROW_TEXTS.items():
        rows = getattr(task, name)
        if any(len(getattr(row, part)) > LONGEST for row in rows):
            changed[name] = tuple(row.model_copy(update={part: getattr(row, part)[: LONGEST + 1]}) for row in rows)
    return task.model_copy(update=changed) if changed else task
