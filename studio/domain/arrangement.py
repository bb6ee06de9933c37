"""The arrangement of an episode: task order, groups and dependencies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from studio.domain.episode import EpisodeSpec, GroupSpec, Split, with_split
from studio.domain.plan import PlacedTask
from studio.domain.splits import why_cut
from studio.domain.task import Dependency, TaskSpec

LONGEST_NAME = 200


class ArrangementError(ValueError):
    """A change that is not possible. ``task_id`` names the card to show the message beside."""

    def __init__(self, message: str, task_id: str = "") -> None:
        super().__init__(message)
        self.task_id = task_id


@dataclass(frozen=True)
class Arrangement:
    order: tuple[str, ...]
    """Ids of the tasks in the episode, in run order."""
    groups: Mapping[str, str]
    """Group name by task id; unplaced tasks are keys, too."""
    dependencies: Mapping[str, tuple[Dependency, ...]]
    group_notes: Mapping[str, str]
    """What a group carries over, by group name."""
    splits: Mapping[str, Split]
    """By task id, without public tasks."""

    @property
    def unplaced(self) -> list[str]:
        placed = set(self.order)
        return sorted(task_id for task_id in self.groups if task_id not in placed)

    def digest(self) -> str:
        dependencies = {
            task_id: [entry.to_json() for entry in entries] for task_id, entries in self.dependencies.items() if entries
        }
        content = [self.order, dict(self.groups), dependencies, self.group_notes_in_use(), dict(self.splits)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]

    def group_notes_in_use(self) -> dict[str, str]:
        named = set(self.groups.values())
        return {name: note for name, note in self.group_notes.items() if note and name in named}


def arrangement_of(episode: EpisodeSpec) -> Arrangement:
    everything = (*episode.tasks, *episode.unplaced)
    return Arrangement(
        order=tuple(task.task_id for task in episode.tasks),
        groups={task.task_id: task.group for task in everything},
        dependencies={task.task_id: task.depends_on for task in everything},
        group_notes={group.name: group.carries_over for group in episode.groups},
        splits=episode.splits,
    )


def apply_arrangement(episode: EpisodeSpec, arrangement: Arrangement) -> EpisodeSpec:
    tasks = {
        task.task_id: task.model_copy(
            update={"group": arrangement.groups[task.task_id], "depends_on": arrangement.dependencies[task.task_id]}
        )
        for task in (*episode.tasks, *episode.unplaced)
    }
    return episode.model_copy(
        update={
            "tasks": tuple(tasks[task_id] for task_id in arrangement.order),
            "unplaced": tuple(tasks[task_id] for task_id in arrangement.unplaced),
            "groups": tuple(
                GroupSpec(name=name, carries_over=note) for name, note in arrangement.group_notes_in_use().items()
            ),
            "splits": dict(arrangement.splits),
        }
    )


def validate_arrangement(arrangement: Arrangement, tasks: Mapping[str, TaskSpec], moved: Sequence[str] = ()) -> None:
    """Raise ArrangementError if a task would not run after its dependencies, or a group be cut by splits; a task in
    ``moved`` is named first."""
    positions = {task_id: position for position, task_id in enumerate(arrangement.order, 1)}
    broken = [
        (task_id, need)
        for task_id, needed in arrangement.dependencies.items()
        for need in needed
        if task_id not in positions or positions.get(need.task_id, len(positions) + 1) >= positions[task_id]
    ]
    if not broken:
        placed = (
            PlacedTask(task_id, tuple(need.task_id for need in arrangement.dependencies[task_id]), group.strip())
            for task_id, group in arrangement.groups.items()
        )
        names = {task_id: _title(task) for task_id, task in tasks.items()}
        if problem := why_cut(placed, arrangement.splits, names):
            raise ArrangementError(problem, moved[0] if moved else "")
        return
    task_id, need = min(broken, key=lambda pair: (pair[0] not in moved, pair[1].task_id not in moved))
    about = f" ({_shorten(need.carries_over)})" if need.carries_over.strip() else ""
    later, earlier = _title(tasks[task_id]), _title(tasks[need.task_id]) if need.task_id in tasks else need.task_id
    if task_id not in positions:
        why = (
            "a task outside the episode cannot have dependencies. Remove this "
            "dependency first, or keep the task in the episode."
        )
    elif need.task_id not in positions:
        why = f"“{earlier}” would be outside the episode. Take both out, or remove this dependency first."
    else:
        why = f"“{later}” must come after it. Move both, or remove this dependency first."
    beside = task_id if task_id in moved or need.task_id not in moved else need.task_id
    raise ArrangementError(f"“{later}” builds on “{earlier}”{about}: {why}", beside)


def move(current: Arrangement, chosen: Sequence[str], before: str | None) -> Arrangement:
    """Move the chosen tasks, in their current order, in front of ``before``, or to the end if it is None."""
    _validate_selection(chosen)
    rest = [task_id for task_id in current.order if task_id not in chosen]
    if before is None:
        position = len(rest)
    elif before in rest:
        position = rest.index(before)
    elif before in current.order:  # the target moves too, so use the next task that stays
        later = current.order[current.order.index(before) :]
        position = next((rest.index(task_id) for task_id in later if task_id in rest), len(rest))
    else:
        raise ArrangementError("That position in the episode no longer exists.")
    return replace(current, order=(*rest[:position], *_in_run_order(current, chosen), *rest[position:]))


def shift(current: Arrangement, chosen: Sequence[str], offset: int) -> Arrangement:
    inside = [task_id for task_id in current.order if task_id in chosen]
    if not inside:
        raise ArrangementError("Only a task in the episode has a position before or after it.")
    rest = [task_id for task_id in current.order if task_id not in chosen]
    first = current.order.index(inside[0])
    index = max(0, min(len(rest), first + offset))
    return replace(current, order=(*rest[:index], *inside, *rest[index:]))


def remove_from_episode(current: Arrangement, chosen: Sequence[str]) -> Arrangement:
    _validate_selection(chosen)
    return replace(current, order=tuple(task_id for task_id in current.order if task_id not in chosen))


def swap(current: Arrangement, first: str, second: str) -> Arrangement:
    """Exchange two tasks; one of them may be outside the episode."""
    if first not in current.order and second not in current.order:
        raise ArrangementError("Neither of the two is in the episode.", first)
    swapped = {first: second, second: first}
    return replace(current, order=tuple(swapped.get(task_id, task_id) for task_id in current.order))


def assign_group(current: Arrangement, chosen: Sequence[str], name: str) -> Arrangement:
    """Put the chosen tasks into a group, creating it if necessary; an empty name removes them from their groups."""
    _validate_selection(chosen)
    name = _group_name(name, current)
    return replace(current, groups={**current.groups, **dict.fromkeys(chosen, name)})


def rename_group(current: Arrangement, name: str, to: str) -> Arrangement:
    """Rename a group. The name of another group merges the two and joins their notes."""
    to = _group_name(to, current)
    if not to:
        raise ArrangementError("Enter a name for the group.")
    if name not in current.groups.values():
        raise ArrangementError(f"The group “{_shorten(name)}” no longer exists.")
    notes = {key: note for key, note in current.group_notes.items() if key not in (name, to)}
    joined = dict.fromkeys(
        note for note in (current.group_notes.get(to, ""), current.group_notes.get(name, "")) if note.strip()
    )
    return replace(
        current,
        groups={task_id: to if group == name else group for task_id, group in current.groups.items()},
        group_notes={**notes, to: "\n".join(joined)},
    )


def describe_group(current: Arrangement, name: str, note: str) -> Arrangement:
    if not name or name not in current.groups.values():
        raise ArrangementError(f"The group “{_shorten(name)}” no longer exists.")
    return replace(current, group_notes={**current.group_notes, name: note.strip()})


def assign_split(current: Arrangement, chosen: Sequence[str], split: Split) -> Arrangement:
    _validate_selection(chosen)
    return replace(current, splits=with_split(current.splits, dict.fromkeys(chosen, split)))


def add_dependency(current: Arrangement, task_id: str, other: str, carries_over: str) -> Arrangement:
    if task_id == other:
        raise ArrangementError("A task cannot build on itself.", task_id)
    dependency = Dependency(task_id=other, carries_over=carries_over.strip())
    existing = current.dependencies[task_id]
    if any(entry.task_id == other for entry in existing):
        existing = tuple(dependency if entry.task_id == other else entry for entry in existing)
    else:
        existing = (*existing, dependency)
    return replace(current, dependencies={**current.dependencies, task_id: existing})


def remove_dependency(current: Arrangement, task_id: str, other: str) -> Arrangement:
    remaining = tuple(dependency for dependency in current.dependencies[task_id] if dependency.task_id != other)
    return replace(current, dependencies={**current.dependencies, task_id: remaining})


def _in_run_order(current: Arrangement, chosen: Sequence[str]) -> list[str]:
    inside = [task_id for task_id in current.order if task_id in chosen]
    return inside + [task_id for task_id in dict.fromkeys(chosen) if task_id not in inside]


def _validate_selection(chosen: Sequence[str]) -> None:
    if not chosen:
        raise ArrangementError("Choose at least one task.")


def _group_name(text: str, current: Arrangement) -> str:
    if text in current.groups.values():
        return text
    name = " ".join(text.split())
    if len(name) > LONGEST_NAME:
        raise ArrangementError(f"The name has {len(name)} characters; the limit is {LONGEST_NAME}. Shorten it.")
    return name


def _title(task: TaskSpec) -> str:
    return _shorten(task.title.strip() or task.task_id)


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:89] + "…"
