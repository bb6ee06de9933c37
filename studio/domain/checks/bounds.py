"""How much of a task is read: what is longer than any task needs is cut before a rule sees it."""

from __future__ import annotations

from typing import Any

from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec

LONGEST = 40_000
"""Characters of one text; judges see no more of a file either."""
TEXTS = ("title", "description", "initial_request", "reference_workflow")
ROWS = {"intents": "content", "checklist": "criterion"}


def within_bounds(episode: EpisodeSpec) -> EpisodeSpec:
    """The episode with every text cut to one character more than is read; itself where nothing is longer."""
    parts = {name: tuple(map(_cut, getattr(episode, name))) for name in ("tasks", "unplaced")}
    same = all(one is other for name in parts for one, other in zip(parts[name], getattr(episode, name), strict=True))
    return episode if same else episode.model_copy(update=parts)


def _cut(task: TaskSpec) -> TaskSpec:
    changed: dict[str, Any] = {
        name: text[: LONGEST + 1] for name in TEXTS if len(text := getattr(task, name)) > LONGEST
    }
    for name, part in ROWS.items():
        rows = getattr(task, name)
        if any(len(getattr(row, part)) > LONGEST for row in rows):
            changed[name] = tuple(row.model_copy(update={part: getattr(row, part)[: LONGEST + 1]}) for row in rows)
    return task.model_copy(update=changed) if changed else task
