"""The modes of a pilot: which sessions it runs, in which chains, and from which state each chain starts.

A chain is a sequence of sessions over one state: workspace, memory (a file in it) and app state. Chains run side by
side. Chosen tasks always bring what they depend on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from studio.domain.episode import EpisodeSpec
from studio.domain.plan import connected_components
from studio.domain.task import TaskSpec


class PilotMode(StrEnum):
    EPISODE = "episode"
    GROUPS = "groups"
    TASK = "task"
    ABLATION = "ablation"
    CHANGED = "changed"


class Arm(StrEnum):
    """The side of an ablation that a chain belongs to."""

    NONE = ""
    WITH = "with"
    WITHOUT = "without"


class Start(StrEnum):
    """The snapshot from which a chain starts."""

    INITIAL = "initial"
    """The episode's initial state: nothing but the files of the first task and the persona's skills."""
    BEFORE = "before"
    """The state stored in the named pilot before the chain's first task."""


@dataclass(frozen=True)
class ModeText:
    label: str
    sentence: str
    cost: str


TEXTS: Mapping[PilotMode, ModeText] = {
    PilotMode.EPISODE: ModeText(
        "Episode",
        "Every task in order over one workspace, as in the paper.",
        "One session per task and run, one after another.",
    ),
    PilotMode.GROUPS: ModeText(
        "Groups",
        "Each dependency group starts from the empty workspace, side by side. Tasks do not see files from other "
        "groups, so results differ from a whole episode.",
        "As many sessions as an episode, done sooner.",
    ),
    PilotMode.TASK: ModeText(
        "One task",
        "One task after those it depends on, from the empty workspace.",
        "One session per run for the task and for each it depends on.",
    ),
    PilotMode.ABLATION: ModeText(
        "Ablation",
        "The last task of each dependency group, with and without its earlier sessions, in pairs (the paper’s "
        "Figure 5).",
        "One session per task of a group, and one more for each last task.",
    ),
    PilotMode.CHANGED: ModeText(
        "Changed tasks",
        "After edits: of the tasks of an earlier pilot only the edited ones and those depending on them run, from the "
        "state stored before them. Its other sessions are taken over.",
        "One session per run for each task that runs again; sessions taken over cost nothing.",
    ),
}


NOTHING_TO_RUN: Mapping[PilotMode, str] = {
    PilotMode.ABLATION: "None of these tasks depends on another, so there are no earlier sessions to leave out.",
    PilotMode.CHANGED: "Nothing was edited since that pilot, so there is nothing to run again.",
}


class PlanError(ValueError):
    """This mode cannot run these tasks; the message says why."""


@dataclass(frozen=True)
class PlannedTask:
    name: str
    depends_on: tuple[str, ...] = ()

    @classmethod
    def of(cls, task: TaskSpec) -> PlannedTask:
        return cls(task.task_id, tuple(need.task_id for need in task.depends_on))


@dataclass(frozen=True)
class Chain:
    tasks: tuple[str, ...]
    """In the order of the episode."""
    start: Start = Start.INITIAL
    arm: Arm = Arm.NONE


@dataclass(frozen=True)
class RunPlan:
    """One run of one persona. Without chains there is nothing to run, ``NOTHING_TO_RUN`` says why."""

    chains: tuple[Chain, ...] = ()
    taken: tuple[str, ...] = ()
    """Tasks whose sessions are taken over."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """The task of each session that runs; the last task of an ablated group comes twice."""
        return tuple(name for chain in self.chains for name in chain.tasks)


def plan_run(
    tasks: Sequence[PlannedTask], mode: PilotMode, chosen: Collection[str] = (), stale: Collection[str] = ()
) -> RunPlan:
    """``tasks`` are the episode's, in order. ``chosen``: only these and what they depend on; none: all. ``stale``, for
    ``changed``: those whose session cannot be taken over. Raises PlanError.
    """
    if mode == PilotMode.TASK and len(set(chosen)) != 1:
        raise PlanError("Choose exactly one task; what it depends on runs with it.")
    wanted = with_dependencies(chosen, tasks) if chosen else {task.name for task in tasks}
    tasks = [task for task in tasks if task.name in wanted]
    names = tuple(task.name for task in tasks)
    if mode == PilotMode.GROUPS:
        return RunPlan(tuple(Chain(group) for group in groups_of(tasks)))
    if mode == PilotMode.ABLATION:
        return RunPlan(tuple(_ablation(tasks)))
    if mode == PilotMode.CHANGED:
        return _rerun(tasks, stale)
    return RunPlan((Chain(names),) if names else ())


def with_dependencies(names: Iterable[str], tasks: Sequence[PlannedTask]) -> set[str]:
    """The tasks named and, transitively, those they depend on."""
    return _reachable(names, {task.name: task.depends_on for task in tasks})


def earlier_needed(task: TaskSpec, episode: EpisodeSpec) -> list[TaskSpec]:
    """The tasks that it depends on, directly or through others, in order."""
    tasks = (*episode.tasks, *episode.unplaced)
    needed = with_dependencies([task.task_id], [*map(PlannedTask.of, tasks)]) - {task.task_id}
    return [each for each in tasks if each.task_id in needed]


def groups_of(tasks: Sequence[PlannedTask]) -> list[tuple[str, ...]]:
    """Tasks connected by dependencies, in order; a task without any is a group of its own."""
    links = [(need, task.name) for task in tasks for need in task.depends_on]
    return connected_components([task.name for task in tasks], links)


def last_tasks(group: Sequence[str], tasks: Sequence[PlannedTask]) -> list[str]:
    """Those of the group that no other of its tasks depends on."""
    needed = {need for task in tasks if task.name in group for need in task.depends_on}
    return [name for name in group if name not in needed]


def _ablation(tasks: Sequence[PlannedTask]) -> Iterable[Chain]:
    for group in groups_of(tasks):
        if len(group) > 1:
            yield Chain(group, arm=Arm.WITH)
            for name in last_tasks(group, tasks):
                yield Chain((name,), arm=Arm.WITHOUT)


def _rerun(tasks: Sequence[PlannedTask], stale: Collection[str]) -> RunPlan:
    chains = [Chain(again, Start.BEFORE) for group in groups_of(tasks) if (again := _again(group, tasks, set(stale)))]
    runs = {name for chain in chains for name in chain.tasks}
    return RunPlan(tuple(chains), tuple(task.name for task in tasks if task.name not in runs))


def _again(group: Sequence[str], tasks: Sequence[PlannedTask], stale: Collection[str]) -> tuple[str, ...]:
    """The group's tasks that must run again, in order.

    The state before the first of them lacks what came after it. So what they depend on runs again too, unless it came
    before.
    """
    needs = {task.name: task.depends_on for task in tasks if task.name in group}
    dependents: dict[str, list[str]] = {name: [] for name in group}
    for name, needed in needs.items():
        for need in needed:
            if need in dependents:
                dependents[need].append(name)
    again = _reachable([name for name in group if name in stale], dependents)
    while again:
        first = next(at for at, name in enumerate(group) if name in again)
        later = _reachable(again, needs) & set(group[first:])
        if later <= again:
            break
        again = _reachable(again | later, dependents)
    return tuple(name for name in group if name in again)


def _reachable(names: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Names without edges of their own are unknown and left out."""
    found: set[str] = set()
    remaining = list(names)
    while remaining:
        name = remaining.pop()
        if name in edges and name not in found:
            found.add(name)
            remaining += edges[name]
    return found
