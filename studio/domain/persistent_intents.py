"""Persistent intents of an episode: where each can first be learned, and where it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.domain.episode import EpisodeSpec
from studio.domain.task import HiddenIntent, TaskSpec

OriginKind = Literal["profile", "session", "file", "tool", "memory", "question", "dependency"]


@dataclass(frozen=True)
class IntentOrigin:
    session: int
    """1-based; 0: before the first session."""
    kind: OriginKind
    ref: str = ""


@dataclass(frozen=True)
class PersistentIntent:
    session: int
    task_id: str
    number: int
    """1-based position among the task's intents."""
    content: str
    origin: IntentOrigin | None
    used_in: tuple[int, ...]
    """Later sessions that build on this one or recover an intent from it."""
    problem: str = ""
    """Why it cannot be known in its session, as a sentence."""


def persistent_intents(episode: EpisodeSpec) -> list[PersistentIntent]:
    positions = {task.task_id: number for number, task in enumerate(episode.tasks, 1)}
    file_origins: dict[str, int] = {}
    for number, task in enumerate(episode.tasks, 1):
        for path in (*(file.path for file in task.assets), *task.expected_paths):
            file_origins.setdefault(path.rpartition("/")[2], number)
    later_uses = _later_uses(episode, positions)
    rows = []
    for session, task in enumerate(episode.tasks, 1):
        for number, intent in enumerate(task.intents, 1):
            if intent.scope != "persistent":
                continue
            origins = [
                origin
                for origin in _origins(task, session, intent, positions, file_origins)
                if origin.session <= session
            ]
            origin = min(origins, key=lambda origin: origin.session, default=None)
            rows.append(
                PersistentIntent(
                    session=session,
                    task_id=task.task_id,
                    number=number,
                    content=intent.content,
                    origin=origin,
                    used_in=later_uses.get(session, ()),
                    problem="" if origin else _problem(intent, session, positions),
                )
            )
    return rows


def _origins(
    task: TaskSpec, session: int, intent: HiddenIntent, positions: dict[str, int], file_origins: dict[str, int]
) -> list[IntentOrigin]:
    origins = []
    prerequisites = sorted(
        positions[dependency.task_id] for dependency in task.depends_on if dependency.task_id in positions
    )
    for source in intent.recoverable_from:
        match source.kind:
            case "session":
                if source.ref in positions and positions[source.ref] < session:
                    origins.append(IntentOrigin(positions[source.ref], "session", source.ref))
            case "profile":
                origins.append(IntentOrigin(0, "profile"))
            case "file":
                origins.append(
                    IntentOrigin(file_origins.get(source.ref.rpartition("/")[2], session), "file", source.ref)
                )
            case "memory":
                if session > 1:
                    origins.append(IntentOrigin(prerequisites[0] if prerequisites else session - 1, "memory"))
            case _:
                origins.append(IntentOrigin(session, source.kind, source.ref))
    if not intent.recoverable_from and prerequisites and prerequisites[0] < session:
        origins.append(IntentOrigin(prerequisites[0], "dependency"))
    return origins


def _later_uses(episode: EpisodeSpec, positions: dict[str, int]) -> dict[int, tuple[int, ...]]:
    uses: dict[int, set[int]] = {}
    for session, task in enumerate(episode.tasks, 1):
        names = {dependency.task_id for dependency in task.depends_on}
        names |= {
            source.ref for intent in task.intents for source in intent.recoverable_from if source.kind == "session"
        }
        for name in names:
            if name in positions and positions[name] < session:
                uses.setdefault(positions[name], set()).add(session)
    return {session: tuple(sorted(others)) for session, others in uses.items()}


def _problem(intent: HiddenIntent, session: int, positions: dict[str, int]) -> str:
    for source in intent.recoverable_from:
        if source.kind == "session" and source.ref in positions:
            return f"Its source is task {positions[source.ref]}, which does not come before task {session}."
        if source.kind == "session":
            return f"Its source is “{source.ref}”, which is not in the episode."
    if session == 1:
        return "It has no source, and no task comes before."
    return "It has no source, and the task builds on no earlier one."
