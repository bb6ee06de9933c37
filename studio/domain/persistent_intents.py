"""What can be learned over an episode: each persistent intent, where it first can be, and where it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.domain.episode import EpisodeSpec
from studio.domain.statistics import bare_tool_name
from studio.domain.task import HiddenIntent, TaskSpec

OriginKind = Literal["profile", "session", "file", "tool", "memory", "question", "dependency"]


@dataclass(frozen=True)
class IntentOrigin:
    """Where an intent can be learned: in which session, from what."""

    session: int
    """1-based; 0: before the first session."""
    how: OriginKind
    ref: str = ""


@dataclass(frozen=True)
class PersistentIntent:
    """A persistent intent of one session, seen from the episode."""

    session: int
    task_id: str
    number: int
    """1-based place among the session's intents."""
    content: str
    first: IntentOrigin | None
    used: tuple[int, ...]
    """Later sessions that say they take it, or anything, from this one."""
    problem: str = ""
    """Why it cannot be known in its session, in a sentence."""


def persistent_intents(episode: EpisodeSpec) -> list[PersistentIntent]:
    """In the order of sessions and intents."""
    places = {task.task_id: number for number, task in enumerate(episode.tasks, 1)}
    brought: dict[str, int] = {}
    for number, task in enumerate(episode.tasks, 1):
        for path in (*(file.path for file in task.assets), *task.expected_paths):
            brought.setdefault(path.rpartition("/")[2], number)
    later = _taken_later(episode, places)
    found = []
    for session, task in enumerate(episode.tasks, 1):
        for number, intent in enumerate(task.intents, 1):
            if intent.scope != "persistent":
                continue
            learned = [one for one in _learnable(task, session, intent, places, brought) if one.session <= session]
            first = min(learned, key=lambda one: one.session, default=None)
            found.append(
                PersistentIntent(
                    session=session,
                    task_id=task.task_id,
                    number=number,
                    content=intent.content,
                    first=first,
                    used=later.get(session, ()),
                    problem="" if first else _problem(intent, session, places),
                )
            )
    return found


def referenced_tools(task: TaskSpec) -> frozenset[str]:
    """The tools a task needs, shows to judges, checks by a rule, or says an intent can be found with."""
    names = {
        *task.tools,
        *(shown.tool for shown in task.tool_evidence),
        *(item.rule.tool for item in task.checklist if item.rule),
        *(
            place.ref.partition(".")[0]
            for intent in task.intents
            for place in intent.recoverable_from
            if place.kind == "tool"
        ),
    }
    return frozenset(bare_tool_name(name) for name in names if name.strip())


def _learnable(
    task: TaskSpec, session: int, intent: HiddenIntent, places: dict[str, int], brought: dict[str, int]
) -> list[IntentOrigin]:
    found = []
    needs = sorted(places[one.task_id] for one in task.depends_on if one.task_id in places)
    for place in intent.recoverable_from:
        match place.kind:
            case "session":
                if place.ref in places and places[place.ref] < session:
                    found.append(IntentOrigin(places[place.ref], "session", place.ref))
            case "profile":
                found.append(IntentOrigin(0, "profile"))
            case "file":
                found.append(IntentOrigin(brought.get(place.ref.rpartition("/")[2], session), "file", place.ref))
            case "memory":
                if session > 1:
                    found.append(IntentOrigin(needs[0] if needs else session - 1, "memory"))
            case _:
                found.append(IntentOrigin(session, place.kind, place.ref))
    if not intent.recoverable_from and needs and needs[0] < session:
        found.append(IntentOrigin(needs[0], "dependency"))
    return found


def _taken_later(episode: EpisodeSpec, places: dict[str, int]) -> dict[int, tuple[int, ...]]:
    """By session: the later ones that build on it or recover an intent from it."""
    taken: dict[int, set[int]] = {}
    for session, task in enumerate(episode.tasks, 1):
        named = {one.task_id for one in task.depends_on}
        named |= {place.ref for intent in task.intents for place in intent.recoverable_from if place.kind == "session"}
        for name in named:
            if name in places and places[name] < session:
                taken.setdefault(places[name], set()).add(session)
    return {session: tuple(sorted(others)) for session, others in taken.items()}


def _problem(intent: HiddenIntent, session: int, places: dict[str, int]) -> str:
    for place in intent.recoverable_from:
        if place.kind == "session" and place.ref in places:
            return f"Its source is task {places[place.ref]}, which does not come before task {session}."
        if place.kind == "session":
            return f"Its source is “{place.ref}”, which is not in the episode."
    if session == 1:
        return "It has no source, and no task comes before."
    return "It has no source, and the task builds on no earlier one."
