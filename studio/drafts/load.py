"""Specs of tasks and personas: the documents in their rows."""

from __future__ import annotations

from collections.abc import Iterable

from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Persona, Task


def load_episode(persona: Persona, *, with_tasks: bool = True) -> EpisodeSpec:
    return load_episodes([persona], with_tasks=with_tasks)[persona.pk]


def load_task(task: Task) -> TaskSpec:
    return load_tasks([task.pk])[task.pk]


def load_episodes(personas: Iterable[Persona], *, with_tasks: bool = True) -> dict[int, EpisodeSpec]:
    """By persona key."""
    keys = [persona.pk for persona in personas]
    placed: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    unplaced: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    if with_tasks:
        rows = Task.objects.filter(persona__in=keys).order_by("position", "task_id")
        for key, position, spec in rows.values_list("persona_id", "position", "spec"):
            (unplaced if position is None else placed)[key].append(TaskSpec.model_validate(spec))
    loaded = {}
    for key, spec, header in Persona.objects.filter(pk__in=keys).values_list("pk", "spec", "episode"):
        tasks, others = placed[key], sorted(unplaced[key], key=lambda task: task.task_id)
        named = {task.group for task in (*tasks, *others)}
        loaded[key] = EpisodeSpec(
            episode_id=header.get("episode_id", ""),
            docker_image_id=header.get("docker_image_id", ""),
            source=header.get("source", {}),
            persona=PersonaSpec.model_validate(spec),
            groups=tuple(
                GroupSpec(name=name, carries_over=text)
                for name, text in header.get("groups", {}).items()
                if name in named
            ),
            tasks=tuple(tasks),
            unplaced=tuple(others),
        )
    return {key: loaded[key] for key in keys}


def load_tasks(keys: Iterable[int]) -> dict[int, TaskSpec]:
    """By task key, in the order given."""
    keys = list(keys)
    specs = dict(Task.objects.filter(pk__in=keys).values_list("pk", "spec"))
    return {key: TaskSpec.model_validate(specs[key]) for key in keys}
