"""Specs loaded from rows. A task is the document in its row; a persona's parts are put together by the database."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.db import connection

from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Persona, Task

_FILE = "json_build_object('path', f.path, 'sha256', f.blob_id, 'size', b.size)"

PERSONAS = f"""
SELECT p.id, json_build_object(
  'persona', json_build_object(
    'tools', ARRAY(SELECT f.name FROM studio_toolbinding f WHERE f.persona_id = p.id ORDER BY f.position),
    'skills', ARRAY(
      SELECT json_build_object('name', s.name, 'files', ARRAY(
        SELECT {_FILE} FROM studio_skillfile f JOIN studio_blob b ON b.sha256 = f.blob_id
        WHERE f.skill_id = s.id ORDER BY f.path COLLATE "C"))
      FROM studio_skill s WHERE s.persona_id = p.id ORDER BY s.name COLLATE "C"),
    'scripts', ARRAY(
      SELECT {_FILE} FROM studio_graderscript f JOIN studio_blob b ON b.sha256 = f.blob_id
      WHERE f.persona_id = p.id ORDER BY f.path COLLATE "C"),
    'files', ARRAY(
      SELECT {_FILE} FROM studio_personafile f JOIN studio_blob b ON b.sha256 = f.blob_id
      WHERE f.persona_id = p.id ORDER BY f.path COLLATE "C")),
  'episode', (
    SELECT json_build_object(
      'episode_id', e.episode_id, 'docker_image_id', e.docker_image_id, 'source', e.source, 'groups', e.groups)
    FROM studio_episode e WHERE e.persona_id = p.id))::text
FROM studio_persona p WHERE p.id = ANY(%s)
"""  # noqa: S608


PERSONA_COLUMNS = (
    *("user_id", "name", "role_text", "occupation", "routines", "working_style", "attributes", "preferences"),
    *("long_term_goals", "profile_source", "tools_source"),
)


def load_episode(persona: Persona, *, with_tasks: bool = True) -> EpisodeSpec:
    return load_episodes([persona], with_tasks=with_tasks)[persona.pk]


def load_task(task: Task) -> TaskSpec:
    return load_tasks([task.pk])[task.pk]


def load_episodes(personas: Iterable[Persona], *, with_tasks: bool = True) -> dict[int, EpisodeSpec]:
    """By persona key. The personas' own columns are those of the rows given, everything else is read."""
    personas = list(personas)
    keys = [persona.pk for persona in personas]
    with connection.cursor() as cursor:
        cursor.execute(PERSONAS, [keys])
        parts = {key: json.loads(text) for key, text in cursor.fetchall()}
    placed: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    unplaced: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    if with_tasks:
        rows = Task.objects.filter(episode__persona__in=keys).order_by("position", "task_id")
        for key, position, spec in rows.values_list("episode__persona", "position", "spec"):
            (unplaced if position is None else placed)[key].append(TaskSpec.model_validate(spec))
    loaded = {}
    for persona in personas:
        part = parts[persona.pk]
        episode = part["episode"] or {"episode_id": "", "groups": {}}
        tasks, others = placed[persona.pk], unplaced[persona.pk]
        named = {task.group for task in (*tasks, *others)}
        columns = {name: getattr(persona, name) for name in PERSONA_COLUMNS}
        loaded[persona.pk] = EpisodeSpec(
            episode_id=episode["episode_id"],
            docker_image_id=episode.get("docker_image_id", ""),
            source=episode.get("source", {}),
            persona=PersonaSpec(**columns, **part["persona"]),
            groups=tuple(
                GroupSpec(name=name, carries_over=text) for name, text in episode["groups"].items() if name in named
            ),
            tasks=tuple(tasks),
            unplaced=tuple(sorted(others, key=lambda task: task.task_id)),
        )
    return loaded


def load_tasks(keys: Iterable[int]) -> dict[int, TaskSpec]:
    """By task key, in the order given."""
    keys = list(keys)
    specs = dict(Task.objects.filter(pk__in=keys).values_list("pk", "spec"))
    return {key: TaskSpec.model_validate(specs[key]) for key in keys}
