"""How an episode is arranged: the order of its tasks, their groups and what builds on what. Steps are pure; each
gives the arrangement as it would be, or says why there is no such step."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.domain.task import Dependency, TaskSpec

LONGEST_NAME = 200


class ArrangementError(ValueError):
    """A step that cannot be made: the text says why, ``task_id`` beside which card."""

    def __init__(self, message: str, task_id: str = "") -> None:
        super().__init__(message)
        self.task_id = task_id


@dataclass(frozen=True)
class Arrangement:
    order: tuple[str, ...]
    """Ids of the tasks in the episode, as they run."""
    groups: Mapping[str, str]
    """Name of the group by task; every task is a key, also those outside the episode."""
    needs: Mapping[str, tuple[Dependency, ...]]
    words: Mapping[str, str]
    """What a group carries over, by its name."""

    @property
    def aside(self) -> list[str]:
        """The tasks outside the episode."""
        placed = set(self.order)
        return sorted(task_id for task_id in self.groups if task_id not in placed)

    def digest(self) -> str:
        """The same for two arrangements if and only if nothing differs."""
        needs = {task_id: [need.to_json() for need in needed] for task_id, needed in self.needs.items() if needed}
        whole = [self.order, dict(self.groups), needs, self.words_kept()]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]

    def words_kept(self) -> dict[str, str]:
        """Words of groups that hold a task."""
        named = set(self.groups.values())
        return {name: words for name, words in self.words.items() if words and name in named}


def arrangement_of(episode: EpisodeSpec) -> Arrangement:
    everything = (*episode.tasks, *episode.unplaced)
    return Arrangement(
        order=tuple(task.task_id for task in episode.tasks),
        groups={task.task_id: task.group for task in everything},
        needs={task.task_id: task.depends_on for task in everything},
        words={group.name: group.carries_over for group in episode.groups},
    )


def apply_arrangement(episode: EpisodeSpec, wanted: Arrangement) -> EpisodeSpec:
    """The episode so arranged."""
    tasks = {
        task.task_id: task.model_copy(
            update={"group": wanted.groups[task.task_id], "depends_on": wanted.needs[task.task_id]}
        )
        for task in (*episode.tasks, *episode.unplaced)
    }
    return episode.model_copy(
        update={
            "tasks": tuple(tasks[task_id] for task_id in wanted.order),
            "unplaced": tuple(tasks[task_id] for task_id in wanted.aside),
            "groups": tuple(GroupSpec(name=name, carries_over=words) for name, words in wanted.words_kept().items()),
        }
    )


def validate_arrangement(wanted: Arrangement, tasks: Mapping[str, TaskSpec], moved: Sequence[str] = ()) -> None:
    """Raise ArrangementError if a task would not come after what it builds on; of several, one that was moved is
    told."""
    places = {task_id: place for place, task_id in enumerate(wanted.order, 1)}
    broken = [
        (task_id, need)
        for task_id, needed in wanted.needs.items()
        for need in needed
        if task_id not in places or places.get(need.task_id, len(places) + 1) >= places[task_id]
    ]
    if not broken:
        return
    task_id, need = min(broken, key=lambda pair: (pair[0] not in moved, pair[1].task_id not in moved))
    about = f" ({_short(need.carries_over)})" if need.carries_over.strip() else ""
    later, earlier = _named(tasks[task_id]), _named(tasks[need.task_id]) if need.task_id in tasks else need.task_id
    if task_id not in places:
        why = (
            "a task outside the episode cannot have dependencies. Remove this "
            "dependency first, or keep the task in the episode."
        )
    elif need.task_id not in places:
        why = f"“{earlier}” would be outside the episode. Take both out, or remove this dependency first."
    else:
        why = f"“{later}” must come after it. Move both, or remove this dependency first."
    beside = task_id if task_id in moved or need.task_id not in moved else need.task_id
    raise ArrangementError(f"“{later}” builds on “{earlier}”{about}: {why}", beside)


def move(now: Arrangement, chosen: Sequence[str], before: str | None) -> Arrangement:
    """The chosen tasks, in the order they have, in front of ``before``; None: at the end."""
    _refuse_none(chosen)
    rest = [task_id for task_id in now.order if task_id not in chosen]
    if before is None:
        place = len(rest)
    elif before in rest:
        place = rest.index(before)
    elif before in now.order:  # it moves along: the next that stays
        later = now.order[now.order.index(before) :]
        place = next((rest.index(task_id) for task_id in later if task_id in rest), len(rest))
    else:
        raise ArrangementError("That position in the episode no longer exists.")
    return replace(now, order=(*rest[:place], *_as_they_stand(now, chosen), *rest[place:]))


def shift(now: Arrangement, chosen: Sequence[str], by: int) -> Arrangement:
    """The chosen tasks one place earlier or later, kept together."""
    inside = [task_id for task_id in now.order if task_id in chosen]
    if not inside:
        raise ArrangementError("Only a task in the episode has a position before or after it.")
    rest = [task_id for task_id in now.order if task_id not in chosen]
    first = now.order.index(inside[0])
    place = max(0, min(len(rest), first + by))
    return replace(now, order=(*rest[:place], *inside, *rest[place:]))


def remove_from_episode(now: Arrangement, chosen: Sequence[str]) -> Arrangement:
    _refuse_none(chosen)
    return replace(now, order=tuple(task_id for task_id in now.order if task_id not in chosen))


def swap(now: Arrangement, one: str, other: str) -> Arrangement:
    """Two tasks in each other's place; one of them may be outside the episode."""
    if one not in now.order and other not in now.order:
        raise ArrangementError("Neither of the two is in the episode.", one)
    places = {one: other, other: one}
    return replace(now, order=tuple(places.get(task_id, task_id) for task_id in now.order))


def assign_group(now: Arrangement, chosen: Sequence[str], name: str) -> Arrangement:
    """The chosen tasks in the group of that name, made where there is none; an empty name takes them out of theirs."""
    _refuse_none(chosen)
    name = _name(name, now)
    return replace(now, groups={**now.groups, **dict.fromkeys(chosen, name)})


def rename_group(now: Arrangement, name: str, to: str) -> Arrangement:
    """A group under another name; the name of another group puts the two together, with what both carry over."""
    to = _name(to, now)
    if not to:
        raise ArrangementError("Enter a name for the group.")
    if name not in now.groups.values():
        raise ArrangementError(f"The group “{_short(name)}” no longer exists.")
    words = {key: said for key, said in now.words.items() if key not in (name, to)}
    both = dict.fromkeys(said for said in (now.words.get(to, ""), now.words.get(name, "")) if said.strip())
    return replace(
        now,
        groups={task_id: to if group == name else group for task_id, group in now.groups.items()},
        words={**words, to: "\n".join(both)},
    )


def describe_group(now: Arrangement, name: str, words: str) -> Arrangement:
    if not name or name not in now.groups.values():
        raise ArrangementError(f"The group “{_short(name)}” no longer exists.")
    return replace(now, words={**now.words, name: words.strip()})


def add_dependency(now: Arrangement, task_id: str, other: str, words: str) -> Arrangement:
    """``task_id`` builds on ``other``, with what carries over; the words are changed where it does already."""
    if task_id == other:
        raise ArrangementError("A task cannot build on itself.", task_id)
    need = Dependency(task_id=other, carries_over=words.strip())
    needed = now.needs[task_id]
    if any(one.task_id == other for one in needed):
        needed = tuple(need if one.task_id == other else one for one in needed)
    else:
        needed = (*needed, need)
    return replace(now, needs={**now.needs, task_id: needed})


def remove_dependency(now: Arrangement, task_id: str, other: str) -> Arrangement:
    needed = tuple(need for need in now.needs[task_id] if need.task_id != other)
    return replace(now, needs={**now.needs, task_id: needed})


def _as_they_stand(now: Arrangement, chosen: Sequence[str]) -> list[str]:
    """In the episode's order, then those from outside it as they were named."""
    inside = [task_id for task_id in now.order if task_id in chosen]
    return inside + [task_id for task_id in dict.fromkeys(chosen) if task_id not in inside]


def _refuse_none(chosen: Sequence[str]) -> None:
    if not chosen:
        raise ArrangementError("Choose at least one task.")


def _name(text: str, now: Arrangement) -> str:
    """As groups are called: one there is keeps its own spelling."""
    if text in now.groups.values():
        return text
    name = " ".join(text.split())
    if len(name) > LONGEST_NAME:
        raise ArrangementError(f"The name has {len(name)} characters; the limit is {LONGEST_NAME}. Shorten it.")
    return name


def _named(task: TaskSpec) -> str:
    return _short(task.title.strip() or task.task_id)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:89] + "…"
