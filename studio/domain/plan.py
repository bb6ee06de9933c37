"""The plan of an episode, and gaps between an episode and its plan; tasks connected by dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from studio.domain.base import Spec
from studio.domain.episode import EpisodeSpec
from studio.domain.phrases import count_of
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


GapKind = Literal["sessions", "groups", "group-size", "standalone", "signals"]


class Plan(Spec):
    """Target numbers for an episode; the defaults are the paper's (section 3.2)."""

    sessions: int = Field(default=20, ge=1, le=500)
    groups: int = Field(default=6, ge=0, le=200)
    group_least: int = Field(default=2, ge=2, le=100)
    group_most: int = Field(default=3, ge=2, le=100)
    standalone: int = Field(default=5, ge=0, le=500)
    """Sessions outside any group."""
    signals: int = Field(default=1, ge=0, le=500)
    """Minimum number of sessions started by an environment signal."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if problem := self.problem():
            raise ValueError(problem)
        return self

    def problem(self) -> str:
        """Why the plan is impossible, as a sentence; empty if it is possible."""
        if self.group_least > self.group_most:
            return f"A group cannot have at least {self.group_least} and at most {self.group_most} tasks."
        least, most = (self.groups * size + self.standalone for size in (self.group_least, self.group_most))
        if not least <= self.sessions <= most:
            total = str(least) if least == most else f"{least} to {most}"
            groups = f"{count_of(self.groups, 'group')} of {self.group_least} to {self.group_most} tasks"
            return f"{groups} and {self.standalone} standalone make {total} tasks, not {self.sessions}."
        if self.signals > self.sessions:
            return f"Of {count_of(self.sessions, 'task')}, {self.signals} cannot be started by an event."
        return ""


PAPER_PLAN = Plan()


@dataclass(frozen=True)
class EpisodeShape:
    """The structure of an episode. Ids are those of placed tasks, in run order."""

    sessions: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    """Tasks connected by dependencies or a named group."""
    standalone: tuple[str, ...]
    signals: tuple[str, ...]


@dataclass(frozen=True)
class PlacedTask:
    task_id: str
    needs: tuple[str, ...] = ()
    group: str = ""
    """Name of its dependency group; empty: none."""
    by_signal: bool = False


@dataclass(frozen=True)
class Gap:
    kind: GapKind
    message: str
    fix: str
    tasks: tuple[str, ...] = ()
    """Ids of the tasks it is about, if any."""
    unfinished: bool = False
    """The episode has fewer sessions than planned, and writing more may close the gap."""


def episode_shape(episode: EpisodeSpec) -> EpisodeShape:
    return shape_of_tasks(map(placed_task, episode.tasks))


def placed_task(task: TaskSpec) -> PlacedTask:
    needs = tuple(dependency.task_id for dependency in task.depends_on)
    return PlacedTask(task.task_id, needs, task.group.strip(), task.trigger.kind != "user_message")


def shape_of_tasks(tasks: Iterable[PlacedTask]) -> EpisodeShape:
    tasks = list(tasks)
    links = [(need, task.task_id) for task in tasks for need in task.needs]
    first_of_group: dict[str, str] = {}
    links += [(first_of_group.setdefault(task.group, task.task_id), task.task_id) for task in tasks if task.group]
    grouped = {task.task_id for task in tasks if task.group}
    components = connected_components([task.task_id for task in tasks], links)
    groups = tuple(component for component in components if len(component) > 1 or component[0] in grouped)
    return EpisodeShape(
        sessions=tuple(task.task_id for task in tasks),
        groups=groups,
        standalone=tuple(component[0] for component in components if component not in groups),
        signals=tuple(task.task_id for task in tasks if task.by_signal),
    )


def find_gaps(shape: EpisodeShape, plan: Plan = PAPER_PLAN) -> list[Gap]:
    missing = plan.sessions - len(shape.sessions)
    gaps = [
        *_compare(
            *("sessions", "task", shape.sessions, plan.sessions, "written"),
            add=f"Write {count_of(missing, 'more task' if shape.sessions else 'task')}.",
            drop=f"Take {count_of(-missing, 'task')} out of the episode.",
        ),
        *_compare(
            *("groups", "dependency group", shape.groups, plan.groups, "formed"),
            add="Make a task build on an earlier one.",
            drop="Merge two groups, or make the tasks of one standalone.",
        ),
        *(gap for group in shape.groups for gap in _size_gaps(group, plan)),
        *_compare(
            *("standalone", "standalone task", shape.standalone, plan.standalone, "written"),
            add="Write a task that builds on no other.",
            drop="Make some of them build on an earlier task.",
        ),
        *_signal_gaps(len(shape.signals), plan.signals),
    ]
    return gaps if missing > 0 else [replace(gap, unfinished=False) for gap in gaps]


def _compare(
    kind: GapKind, noun: str, found: tuple[Any, ...], planned: int, done: str, *, add: str, drop: str
) -> Iterator[Gap]:
    if len(found) < planned:
        message = f"{len(found) or 'None'} of {count_of(planned, f'planned {noun}')} {done}."
        yield Gap(kind, message, add, unfinished=True)
    elif len(found) > planned:
        alone = kind == "standalone"  # another task may build on one
        message = f"{count_of(len(found), noun)}, but the plan has {planned}."
        yield Gap(kind, message, drop, found if alone else (), unfinished=alone)


def _size_gaps(group: tuple[str, ...], plan: Plan) -> Iterator[Gap]:
    size = f"A group has {count_of(len(group), 'task')}, but the plan"
    if len(group) < plan.group_least:
        message, fix = f"{size} requires at least {plan.group_least}.", "Add another task to it."
        yield Gap("group-size", message, fix, group, unfinished=True)
    elif len(group) > plan.group_most:
        fix = "Split it into two groups, or make one of its tasks standalone."
        yield Gap("group-size", f"{size} allows at most {plan.group_most}.", fix, group)


def _signal_gaps(have: int, planned: int) -> Iterator[Gap]:
    if have < planned:
        message = f"{have} of {count_of(planned, 'planned task')} {'is' if have == 1 else 'are'} started by an event."
        fix = "Start a task with a webhook, a feed, a dropped file or the clock."
        yield Gap("signals", message if have else "No task is started by an event.", fix, unfinished=True)
