"""What is graded in a task, in order, and how the turns of an item become its value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from studio.domain.task import ExactCheck, TaskSpec

Grader = Literal["rubric", "rule"]
"""A key of a grader script is a rule too."""


@dataclass(frozen=True)
class GradedItem:
    """One criterion of a task. ``index`` is its 1-based position among all: checklist first, then script keys."""

    index: int
    grader: Grader
    criterion: str
    weight: float = 1.0
    uid: str = ""
    rule: ExactCheck | None = None
    key: str = ""
    """Of a script."""
    script: bool = False
    """Decided by the task's grader script; without a key if its keys could not be learnt."""


@dataclass(frozen=True)
class ItemGrade:
    """An item's value over a session."""

    value: bool | None
    """None: ungraded, because its grader is missing or broken. Never the same as not met."""
    turn: int | None = None
    """The first turn that credited it."""


def items_of(task: TaskSpec, keys: Sequence[str] | None = None) -> tuple[GradedItem, ...]:
    """The items of ``task``. ``keys`` are its script's, None if they are not known.

    A script that is missing or broken stands for itself as one item, so that it is seen to be ungraded.
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
                GradedItem(start + at, "rule", f"[tools] {key}", key=key, script=True) for at, key in enumerate(keys)
            ]
    return tuple(items)


def grade_over_turns(values: Iterable[tuple[int, bool | None]]) -> ItemGrade:
    """Any-turn credit: met if met in any turn; ungraded if a turn could not be graded and none met it."""
    ungraded, seen = False, False
    for turn, value in values:
        seen = True
        if value:
            return ItemGrade(True, turn)
        ungraded = ungraded or value is None
    return ItemGrade(None if ungraded or not seen else False)


def completeness(graded: Sequence[tuple[float, bool | None]]) -> float | None:
    """Comp of a session: the met share of the weight. Ungraded items are left out; None if none is left."""
    known = [(weight, value) for weight, value in graded if value is not None]
    total = sum(weight for weight, _ in known)
    return sum(weight for weight, value in known if value) / total if total > 0 else None
