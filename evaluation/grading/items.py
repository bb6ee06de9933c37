"""The graded items of a task, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from studio.domain.task import ExactCheck, TaskSpec

Grader = Literal["rubric", "rule"]
"""Keys of a grader script count as ``rule``."""


@dataclass(frozen=True)
class GradedItem:
    """``index`` is the 1-based position among all items: checklist first, then script keys."""

    index: int
    grader: Grader
    criterion: str
    weight: float = 1.0
    uid: str = ""
    rule: ExactCheck | None = None
    key: str = ""
    """Key of the grader script."""
    script: bool = False
    """Decided by the grader script; without ``key`` if its keys are unknown."""


def items_of(task: TaskSpec, keys: Sequence[str] | None = None) -> tuple[GradedItem, ...]:
    """``keys`` are those of the grader script; None if they are unknown.

    A missing or broken script becomes one item, so that it visibly stays ungraded.
    """
    items: list[GradedItem] = []
    for position, item in enumerate(task.scored_items, start=1):
        grader: Grader = "rule" if item.grader == "rule" else "rubric"
        items.append(GradedItem(position, grader, item.criterion, item.weight, item.uid, item.rule))
    if task.grader_script:
        start = len(items) + 1
        if keys is None:
            items.append(GradedItem(start, "rule", f"[tools] {PurePosixPath(task.grader_script).name}", script=True))
        else:
            items += [
                GradedItem(start + offset, "rule", f"[tools] {key}", key=key, script=True)
                for offset, key in enumerate(keys)
            ]
    return tuple(items)


def completeness(graded: Sequence[tuple[float, bool | None]]) -> float | None:
    """Comp of a session: the met share of the weight, without ungraded items. None if no item was graded."""
    decided = [(weight, value) for weight, value in graded if value is not None]
    total = sum(weight for weight, _ in decided)
    return sum(weight for weight, value in decided if value) / total if total > 0 else None
