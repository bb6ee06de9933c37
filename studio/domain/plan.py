"""The plan of an episode, and gaps between an episode and its plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from studio.domain.base import Spec
from studio.domain.dependencies import connected_components
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec

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
        if problem := plan_problem(
            sessions=self.sessions,
            groups=self.groups,
            group_least=self.group_least,
            group_most=self.group_most,
            standalone=self.standalone,
            signals=self.signals,
        ):
            raise ValueError(problem)
        return self


def plan_problem(
    *, sessions: int, groups: int, group_least: int, group_most: int, standalone: int, signals: int
) -> str:
    """Why the plan is impossible, as a sentence; empty if it is possible."""
    if group_least > group_most:
        return f"A group cannot have at least {group_least} and at most {group_most} tasks."
    least, most = groups * group_least + standalone, groups * group_most + standalone
    if not least <= sessions <= most:
        total = str(least) if least == most else f"{least} to {most}"
        groups_text = f"{counted(groups, 'group')} of {group_least} to {group_most} tasks"
        return f"{groups_text} and {standalone} standalone make {total} tasks, not {sessions}."
    if signals > sessions:
        return f"Of {counted(sessions, 'task')}, {signals} cannot be started by an event."
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
    """The episode has fewer sessions than planned, so writing more may close the gap."""


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
    return [
        *_session_gaps(shape, plan),
        *_group_gaps(shape, plan),
        *_standalone_gaps(shape, plan),
        *_signal_gaps(shape, plan),
    ]


def _session_gaps(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.sessions)
    if have < plan.sessions:
        missing = plan.sessions - have
        yield Gap(
            "sessions",
            f"{_count_or_none(have)} of {counted(plan.sessions, 'planned task')} written.",
            f"Write {counted(missing, 'more task' if have else 'task')}.",
            unfinished=True,
        )
    elif have > plan.sessions:
        yield Gap(
            "sessions",
            f"{counted(have, 'task')}, but the plan has {plan.sessions}.",
            f"Take {counted(have - plan.sessions, 'task')} out of the episode.",
        )


def _group_gaps(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.groups)
    if have < plan.groups:
        yield Gap(
            "groups",
            f"{_count_or_none(have)} of {counted(plan.groups, 'planned dependency group')} formed.",
            "Make a task build on an earlier one.",
            unfinished=_unfinished(shape, plan),
        )
    elif have > plan.groups:
        yield Gap(
            "groups",
            f"{counted(have, 'dependency group')}, but the plan has {plan.groups}.",
            "Merge two groups, or make the tasks of one standalone.",
        )
    for group in shape.groups:
        if len(group) < plan.group_least:
            yield Gap(
                "group-size",
                f"A group has {counted(len(group), 'task')}, but the plan requires at least {plan.group_least}.",
                "Add another task to it.",
                group,
                unfinished=_unfinished(shape, plan),
            )
        elif len(group) > plan.group_most:
            yield Gap(
                "group-size",
                f"A group has {counted(len(group), 'task')}, but the plan allows at most {plan.group_most}.",
                "Split it into two groups, or make one of its tasks standalone.",
                group,
            )


def _standalone_gaps(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.standalone)
    if have < plan.standalone:
        yield Gap(
            "standalone",
            f"{_count_or_none(have)} of {counted(plan.standalone, 'planned standalone task')} written.",
            "Write a task that builds on no other.",
            unfinished=_unfinished(shape, plan),
        )
    elif have > plan.standalone:
        yield Gap(
            "standalone",
            f"{counted(have, 'standalone task')}, but the plan has {plan.standalone}.",
            "Make some of them build on an earlier task.",
            shape.standalone,
            unfinished=_unfinished(shape, plan),
        )


def _signal_gaps(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.signals)
    if have < plan.signals:
        yield Gap(
            "signals",
            f"{have} of {counted(plan.signals, 'planned task')} {_verb(have, 'is', 'are')} started by an event."
            if have
            else "No task is started by an event.",
            "Start a task with a webhook, a feed, a dropped file or the clock.",
            unfinished=_unfinished(shape, plan),
        )


def _unfinished(shape: EpisodeShape, plan: Plan) -> bool:
    return len(shape.sessions) < plan.sessions


def _count_or_none(count: int) -> str:
    return str(count) if count else "None"


def _verb(count: int, singular: str, plural: str) -> str:
    return singular if count == 1 else plural


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
