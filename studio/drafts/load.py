"""Specs of tasks and personas: the documents in their rows, which are locked before they change."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from studio.domain.base import JsonDict
from studio.domain.episode import EpisodeSpec, GroupSpec, Split, with_split
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Persona, PersonaRevision, Revision, Task


def load_episode(persona: Persona, *, with_tasks: bool = True) -> EpisodeSpec:
    return load_episodes([persona], with_tasks=with_tasks)[persona.pk]


def load_task(task: Task) -> TaskSpec:
    return load_tasks([task.pk])[task.pk]


def load_episodes(personas: Iterable[Persona], *, with_tasks: bool = True) -> dict[int, EpisodeSpec]:
    """By persona key."""
    keys = [persona.pk for persona in personas]
    placed: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    unplaced: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    splits: dict[int, dict[str, str]] = {key: {} for key in keys}
    if with_tasks:
        rows = Task.objects.filter(persona__in=keys).order_by("position", "task_id")
        for key, position, split, spec in rows.values_list("persona_id", "position", "split", "spec"):
            (unplaced if position is None else placed)[key].append(TaskSpec.model_validate(spec))
            splits[key][spec["task_id"]] = split
    loaded = {
        key: _episode(spec, {**header, "splits": splits[key]}, placed[key], unplaced[key])
        for key, spec, header in Persona.objects.filter(pk__in=keys).values_list("pk", "spec", "episode")
    }
    return {key: loaded[key] for key in keys}


def load_tasks(keys: Iterable[int]) -> dict[int, TaskSpec]:
    """By task key, in the order given."""
    keys = list(keys)
    specs = dict(Task.objects.filter(pk__in=keys).values_list("pk", "spec"))
    return {key: TaskSpec.model_validate(specs[key]) for key in keys}


def frozen_episode(persona: PersonaRevision, tasks: Iterable[Revision]) -> EpisodeSpec:
    """As it was when these were the newest revisions of a persona and its tasks."""
    specs = {spec.task_id: spec for spec in (TaskSpec.model_validate(task.spec) for task in tasks)}
    placed = [specs.pop(name) for name in persona.episode["order"] if name in specs]
    return _episode(persona.spec, persona.episode, placed, specs.values())


def _episode(spec: JsonDict, header: JsonDict, placed: Iterable[TaskSpec], unplaced: Iterable[TaskSpec]) -> EpisodeSpec:
    tasks, others = tuple(placed), tuple(sorted(unplaced, key=lambda task: task.task_id))
    named = {task.group for task in (*tasks, *others)}
    splits = header.get("splits", {})
    known = {task.task_id for task in (*tasks, *others)}
    return EpisodeSpec(
        episode_id=header.get("episode_id", ""),
        docker_image_id=header.get("docker_image_id", ""),
        source=header.get("source", {}),
        persona=PersonaSpec.model_validate(spec),
        groups=tuple(
            GroupSpec(name=name, carries_over=text) for name, text in header.get("groups", {}).items() if name in named
        ),
        splits=with_split({}, {name: Split(split) for name, split in splits.items() if name in known}),
        tasks=tasks,
        unplaced=others,
    )


def lock(task_id: int) -> Task:
    return _lockable().get(pk=task_id)


def lock_all(task_ids: Iterable[int]) -> list[Task]:
    return list(_lockable().filter(pk__in=task_ids).order_by("pk"))


def _lockable() -> QuerySet[Task]:
    return Task.objects.select_for_update(no_key=True, of=("self",)).select_related("persona__benchmark")
