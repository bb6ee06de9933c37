"""What an episode shall hold, and where one departs from it. The paper's plan: twenty sessions, six strong dependency
groups of two to three tasks, five tasks that stand alone (section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from studio.domain.base import Spec
from studio.domain.dependencies import connected_components
from studio.domain.episode import EpisodeSpec

GapKind = Literal["sessions", "groups", "group-size", "standalone", "signals"]


class Plan(Spec):
    """How many of what an episode of the benchmark shall hold. The defaults are the paper's."""

    sessions: int = Field(default=20, ge=1, le=500)
    groups: int = Field(default=6, ge=0, le=200)
    """Dependency groups."""
    group_least: int = Field(default=2, ge=2, le=100)
    group_most: int = Field(default=3, ge=2, le=100)
    standalone: int = Field(default=5, ge=0, le=500)
    """Sessions in no group."""
    signals: int = Field(default=1, ge=0, le=500)
    """Sessions, at least, that a signal of the environment opens instead of the user."""

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
    """Why no episode can be of this plan, in a sentence; empty if one can."""
    if group_least > group_most:
        return f"A group cannot have at least {group_least} and at most {group_most} tasks."
    least, most = groups * group_least + standalone, groups * group_most + standalone
    if not least <= sessions <= most:
        span = str(least) if least == most else f"{least} to {most}"
        groups_said = f"{counted(groups, 'group')} of {group_least} to {group_most} tasks"
        return f"{groups_said} and {standalone} standalone make {span} tasks, not {sessions}."
    if signals > sessions:
        return f"Of {counted(sessions, 'task')}, {signals} cannot be started by an event."
    return ""


PAPER_PLAN = Plan()


@dataclass(frozen=True)
class EpisodeShape:
    """How an episode is built, as its plan looks at it. Ids are those of placed tasks, in run order."""

    sessions: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    """What hangs together through dependencies or a group the author named."""
    standalone: tuple[str, ...]
    signals: tuple[str, ...]


@dataclass(frozen=True)
class PlacedTask:
    """One placed task, as far as the shape of its episode goes."""

    task_id: str
    needs: tuple[str, ...] = ()
    group: str = ""
    """The group its author named; empty: none."""
    by_signal: bool = False


@dataclass(frozen=True)
class Gap:
    """One departure of an episode from its plan."""

    kind: GapKind
    message: str
    mend: str
    tasks: tuple[str, ...] = ()
    """Ids of the tasks it is about, where it is about some."""
    unfinished: bool = False
    """The episode has fewer sessions than planned and what is missing may come with them."""


def episode_shape(episode: EpisodeSpec) -> EpisodeShape:
    return shape_of_tasks(
        PlacedTask(
            task.task_id,
            tuple(dependency.task_id for dependency in task.depends_on),
            task.group.strip(),
            task.trigger.kind != "user_message",
        )
        for task in episode.tasks
    )


def shape_of_tasks(places: Iterable[PlacedTask]) -> EpisodeShape:
    """The shape of an episode whose tasks run in this order."""
    places = list(places)
    links = [(need, place.task_id) for place in places for need in place.needs]
    first: dict[str, str] = {}
    links += [(first.setdefault(place.group, place.task_id), place.task_id) for place in places if place.group]
    named = {place.task_id for place in places if place.group}
    parts = connected_components([place.task_id for place in places], links)
    groups = tuple(part for part in parts if len(part) > 1 or part[0] in named)
    return EpisodeShape(
        sessions=tuple(place.task_id for place in places),
        groups=groups,
        standalone=tuple(part[0] for part in parts if part not in groups),
        signals=tuple(place.task_id for place in places if place.by_signal),
    )


def find_gaps(shape: EpisodeShape, plan: Plan = PAPER_PLAN) -> list[Gap]:
    """Where the episode departs from the plan, what is missing before what is too much."""
    return [
        *_of_sessions(shape, plan),
        *_of_groups(shape, plan),
        *_alone(shape, plan),
        *_of_signals(shape, plan),
    ]


def _of_sessions(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.sessions)
    if have < plan.sessions:
        missing = plan.sessions - have
        yield Gap(
            "sessions",
            f"{_some(have)} of {counted(plan.sessions, 'planned task')} written.",
            f"Write {counted(missing, 'more task' if have else 'task')}.",
            unfinished=True,
        )
    elif have > plan.sessions:
        yield Gap(
            "sessions",
            f"{counted(have, 'task')}, but the plan has {plan.sessions}.",
            f"Take {counted(have - plan.sessions, 'task')} out of the episode.",
        )


def _of_groups(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.groups)
    if have < plan.groups:
        yield Gap(
            "groups",
            f"{_some(have)} of {counted(plan.groups, 'planned dependency group')} formed.",
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


def _alone(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
    have = len(shape.standalone)
    if have < plan.standalone:
        yield Gap(
            "standalone",
            f"{_some(have)} of {counted(plan.standalone, 'planned standalone task')} written.",
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


def _of_signals(shape: EpisodeShape, plan: Plan) -> Iterator[Gap]:
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


def _some(count: int) -> str:
    return str(count) if count else "None"


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
