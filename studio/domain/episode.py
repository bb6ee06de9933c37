"""An episode: a persona's ordered tasks over one persistent workspace."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from studio.domain.base import JsonDict, Spec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec


class Split(StrEnum):
    """Part of a benchmark by who may see it. From the most open on."""

    PUBLIC = "public"
    VALIDATION = "validation"
    """Published too; not to be tuned on, and scored by itself."""
    HELD_OUT = "held_out"
    """Never published."""

    @property
    def label(self) -> str:
        return self.value.replace("_", "-")


def with_split(splits: Mapping[str, Split], changed: Mapping[str, Split]) -> dict[str, Split]:
    """``EpisodeSpec.splits`` after some have changed."""
    return {name: split for name, split in sorted({**splits, **changed}.items()) if split != Split.PUBLIC}


class GroupSpec(Spec):
    """What a named dependency group's tasks share (paper, section 3.2)."""

    name: str
    carries_over: str


class EpisodeSpec(Spec):
    """The persona and its tasks in run order."""

    episode_id: str
    persona: PersonaSpec
    tasks: tuple[TaskSpec, ...] = ()
    """In run order, which is the author's choice: never sort it."""
    unplaced: tuple[TaskSpec, ...] = ()
    """Tasks outside the episode; they are never run."""
    groups: tuple[GroupSpec, ...] = ()
    """Dependency groups with a description. Membership is stored in the tasks."""
    splits: dict[str, Split] = Field(default_factory=dict)
    """By task id; a task that is not named is public. The tasks of a dependency group are of one split."""
    docker_image_id: str = ""
    source: JsonDict = Field(default_factory=dict)
    """``episode.yaml`` as read."""

    def task(self, task_id: str) -> TaskSpec | None:
        return next((task for task in (*self.tasks, *self.unplaced) if task.task_id == task_id), None)

    def split_of(self, task_id: str) -> Split:
        return self.splits.get(task_id, Split.PUBLIC)

    def task_label(self, task_id: str) -> str:
        position = next((number for number, task in enumerate(self.tasks, 1) if task.task_id == task_id), None)
        task = self.task(task_id)
        title = " ".join(task.title.split()) if task else ""
        suffix = f" (session {position})" if position else " (not placed)" if task else ""
        return f"“{title or task_id}”{suffix}"
