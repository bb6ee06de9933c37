"""Specs loaded from rows: one statement for personas, one for their tasks.

PostgreSQL puts each persona's and each task's rows together as JSON, which costs a fifth of a query per table. A single
persona's tasks are read again only when they changed: while somebody writes, every request needs them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from studio.domain.bounded_cache import BoundedCache, deep_size
from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Persona, Task
from studio.models.statements import PreparedQuery, binding_cursor

_FILE = "json_build_object('path', f.path, 'sha256', f.blob_id, 'size', b.size)"

_TASK = """
json_build_object(
  'task_id', t.task_id, 'user_id', t.user_id, 'environment_id', t.environment_id, 'title', t.title,
  'description', t.description, 'task_type', t.task_type, 'category', t.category,
  'trigger', json_build_object('kind', t.trigger_kind, 'payload', t.trigger_payload),
  'initial_request', t.initial_request,
  'intents', ARRAY(
    SELECT json_build_object(
      'uid', i.uid, 'content', i.content, 'scope', i.scope, 'initial_status', i.initial_status,
      'recoverable_from', i.recoverable_from, 'source', i.source)
    FROM studio_hiddenintent i WHERE i.task_id = t.id ORDER BY i.position),
  'checklist', ARRAY(
    SELECT json_build_object(
      'uid', c.uid, 'criterion', c.criterion, 'weight', c.weight, 'grader', c.grader, 'rule', c.rule,
      'evidence', c.evidence, 'source', c.source, 'follows_from', ARRAY(
        SELECT i.uid FROM studio_checklistitem_follows_from l JOIN studio_hiddenintent i ON i.id = l.hiddenintent_id
        WHERE l.checklistitem_id = c.id ORDER BY i.position))
    FROM studio_checklistitem c WHERE c.task_id = t.id ORDER BY c.position),
  'files_read', t.files_read, 'tool_evidence', t.tool_evidence, 'grader_script', t.grader_path,
  'depends_on', ARRAY(
    SELECT json_build_object('task_id', r.task_id, 'carries_over', d.carries_over)
    FROM studio_dependency d JOIN studio_task r ON r.id = d.requires_id WHERE d.task_id = t.id ORDER BY d.position),
  'group', coalesce((SELECT g.name FROM studio_dependencygroup g WHERE g.id = t.group_id), ''),
  'assets', ARRAY(
    SELECT json_build_object('path', f.path, 'sha256', f.blob_id, 'size', b.size, 'description', f.description)
    FROM studio_asset f JOIN studio_blob b ON b.sha256 = f.blob_id WHERE f.task_id = t.id ORDER BY f.path COLLATE "C"),
  'tools', t.tools, 'skills', t.skills, 'reference_workflow', t.reference_workflow,
  'expected_artifacts', ARRAY(
    SELECT json_build_object('path', f.path, 'note', f.note, 'reference',
      CASE WHEN f.blob_id IS NOT NULL THEN json_build_object('sha256', f.blob_id, 'size', coalesce(b.size, 0)) END)
    FROM studio_expectedartifact f LEFT JOIN studio_blob b ON b.sha256 = f.blob_id
    WHERE f.task_id = t.id ORDER BY f.position),
  'metadata', t.metadata, 'source', t.source)::text
"""

TASKS = f"SELECT t.id, {_TASK} FROM studio_task t WHERE t.id = ANY(%s)"  # noqa: S608

TASKS_OF_PERSONAS = f"""
SELECT e.persona_id, t.position, {_TASK} FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
WHERE e.persona_id = ANY(%s) ORDER BY t.episode_id, t.position
"""  # noqa: S608

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
      'episode_id', e.episode_id, 'docker_image_id', e.docker_image_id, 'source', e.source, 'groups', ARRAY(
        SELECT json_build_object('name', g.name, 'carries_over', g.carries_over) FROM studio_dependencygroup g
        WHERE g.episode_id = e.id AND g.carries_over <> '' ORDER BY g.position))
    FROM studio_episode e WHERE e.persona_id = p.id))::text
FROM studio_persona p WHERE p.id = ANY(%s)
"""  # noqa: S608


class TaskKey(NamedTuple):
    """Changes with whatever a task's spec says."""

    pk: int
    version: int
    updated_at: datetime
    task_id: str
    position: int | None
    group: str | None


_KEYS_OF_PERSONA = PreparedQuery(
    lambda persona: (
        Task.objects.filter(episode__persona=persona)
        .order_by("episode", "position")
        .values_list("pk", "version", "updated_at", "task_id", "position", "group__name")
    )
)
_specs: BoundedCache[TaskKey, TaskSpec] = BoundedCache(16_000_000, size_of=deep_size)

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
    parts = {key: json.loads(text) for key, text in _read(PERSONAS, keys)}
    placed: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    unplaced: dict[int, list[TaskSpec]] = {key: [] for key in keys}
    for key, position, task in _tasks_of(keys) if with_tasks else ():
        (unplaced if position is None else placed)[key].append(task)
    loaded = {}
    for persona in personas:
        part = parts[persona.pk]
        episode = part["episode"] or {"episode_id": "", "groups": ()}
        columns = {name: getattr(persona, name) for name in PERSONA_COLUMNS}
        loaded[persona.pk] = EpisodeSpec(
            episode_id=episode["episode_id"],
            docker_image_id=episode.get("docker_image_id", ""),
            source=episode.get("source", {}),
            persona=PersonaSpec(**columns, **part["persona"]),
            groups=tuple(GroupSpec(**group) for group in episode["groups"]),
            tasks=tuple(placed[persona.pk]),
            unplaced=tuple(sorted(unplaced[persona.pk], key=lambda task: task.task_id)),
        )
    return loaded


def load_tasks(keys: Iterable[int]) -> dict[int, TaskSpec]:
    """By task key, in the order given."""
    keys = list(keys)
    specs = {key: _task(text) for key, text in _read(TASKS, keys)}
    return {key: specs[key] for key in keys}


def cached_tasks(keys: Iterable[TaskKey]) -> dict[int, TaskSpec]:
    """By task key, in the order given; read if they changed."""
    keys = list(keys)
    known = _specs.get_many(keys)
    if missing := [key for key in keys if key not in known]:
        read = load_tasks(key.pk for key in missing)
        known |= {key: read[key.pk] for key in missing}
        _specs.put_many({key: known[key] for key in missing})
    return {key.pk: known[key] for key in keys}


def cached_task(task: Task) -> TaskSpec:
    """As of this row, which no edit is changing."""
    group = task.group.name if task.group else None
    key = TaskKey(task.pk, task.version, task.updated_at, task.task_id, task.position, group)
    return cached_tasks([key])[task.pk]


def _tasks_of(personas: Sequence[int]) -> Iterable[tuple[int, int | None, TaskSpec]]:
    """Persona, position and spec of each task, in order."""
    if len(personas) != 1:
        for persona, position, text in _read(TASKS_OF_PERSONAS, personas):
            yield persona, position, _task(text)
        return
    keys = [TaskKey(*row) for row in _KEYS_OF_PERSONA.rows(*personas)]
    specs = cached_tasks(keys)
    for key in keys:
        yield personas[0], key.position, specs[key.pk]


def _task(text: str) -> TaskSpec:
    return TaskSpec.model_validate(json.loads(text))


def _read(statement: str, keys: Sequence[int]) -> list[tuple[Any, ...]]:
    if not keys:
        return []
    values: Any = list(keys)
    if len(keys) == 1:  # prepared once for all: of lists, the database thinks that each is worth a plan of its own
        statement, values = statement.replace("= ANY(%s)", "= %s"), keys[0]
    with binding_cursor() as cursor:  # to plan them takes as long as to run them
        cursor.execute(statement, [values])
        return list(cursor.fetchall())
