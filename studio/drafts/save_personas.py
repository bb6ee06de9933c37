"""Bulk saves of personas and the order of their episodes. Callers lock the rows and refresh findings."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.utils import timezone

from studio.domain.base import JsonDict
from studio.domain.content import brought_by, changed_parts, persona_parts
from studio.domain.diff import changed_fields, save_summary
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.drafts.contents import refresh_contents
from studio.drafts.sync import BATCH, sync
from studio.drafts.validate import validate_storable
from studio.models import Event, GraderScript, Persona, PersonaRevision, Task, User
from studio.models.personas import SPEC_FIELDS


def save_personas(
    triples: Sequence[tuple[Persona, EpisodeSpec, EpisodeSpec]],
    *,
    by: User | None,
    note: str = "",
    verb: str,
) -> list[tuple[str, ...]]:
    """Save personas, episode headers and orders, given as (row, old, new); return the changed fields of each. Tasks are
    saved by ``save_tasks``; every task in the order must have a row."""
    results: list[tuple[str, ...]] = []
    changed = []
    for row, old, new in triples:
        validate_storable(new.persona)
        fields = changed_fields(old.persona, new.persona)
        if json.dumps(_header(old)) != json.dumps(_header(new)):
            fields.append("episode")
        results.append(tuple(fields))
        if fields or row.version == 0:
            changed.append((row, old, _renamed(old, new), fields))
    if not changed:
        return results
    for row, _, new, _ in changed:
        row.set_spec(new.persona)
        row.episode = _header(new)
        row.version += 1
        row.updated_at = timezone.now()
    Persona.objects.bulk_update(
        [row for row, *_ in changed], [*SPEC_FIELDS, "episode", "version", "updated_at"], batch_size=BATCH
    )
    _write_scripts([(row, new.persona) for row, _, new, fields in changed if fields != ["episode"]])
    _place_tasks([(row, new) for row, _, new, _ in changed])
    PersonaRevision.objects.bulk_create([_revision(row, old, new, by=by, note=note) for row, old, new, _ in changed])
    refresh_contents([row.pk for row, *_ in changed], by=by)
    Event.objects.bulk_create(
        Event(
            benchmark_id=row.benchmark_id,
            persona=row,
            actor=by,
            verb="created" if row.version == 1 and verb == "edited" else verb,
            summary=save_summary(row.version, fields, verb=verb, note=note),
            data={"fields": fields, "version": row.version},
        )
        for row, _, _, fields in changed
    )
    return results


def _revision(row: Persona, old: EpisodeSpec, new: EpisodeSpec, *, by: User | None, note: str) -> PersonaRevision:
    parts = changed_parts(persona_parts(old.persona) if row.version > 1 else {}, persona_parts(new.persona))
    return PersonaRevision(
        persona=row,
        number=row.version,
        spec=row.spec,
        episode=row.episode,
        sha256=new.model_copy(update={"tasks": (), "unplaced": ()}).content_hash(),
        changed=parts,
        brought=brought_by(parts),
        note=note[:300],
        created_by=by,
    )


def _place_tasks(pairs: Sequence[tuple[Persona, EpisodeSpec]]) -> None:
    positions = {(row.pk, task.task_id): position for row, spec in pairs for position, task in enumerate(spec.tasks, 1)}
    episodes = {row.pk: spec for row, spec in pairs}
    moved = []
    rows = Task.objects.filter(persona__in=[row for row, _ in pairs])
    for task in rows.only("pk", "task_id", "persona_id", "position", "split"):
        position = positions.get((task.persona_id, task.task_id))
        split = episodes[task.persona_id].split_of(task.task_id)
        if (position, split) != (task.position, task.split):
            task.position, task.split = position, split
            moved.append(task)
    Task.objects.bulk_update(moved, ["position", "split"], batch_size=BATCH)


def _header(episode: EpisodeSpec) -> JsonDict:
    return {
        "episode_id": episode.episode_id,
        "docker_image_id": episode.docker_image_id,
        "source": episode.source,
        "order": [task.task_id for task in episode.tasks],
        **({"groups": groups} if (groups := _groups(episode)) else {}),
        **({"splits": dict(sorted(episode.splits.items()))} if episode.splits else {}),
    }


def _groups(episode: EpisodeSpec) -> dict[str, str]:
    return {group.name: group.carries_over for group in episode.groups if group.carries_over}


def _renamed(old: EpisodeSpec, new: EpisodeSpec) -> EpisodeSpec:
    persona, source = new.persona, new.persona.profile_source
    if old.persona.user_id == persona.user_id or old.persona.profile_source != source or "user_id" not in source:
        return new
    profile = {**source, "user_id": persona.user_id}
    return new.model_copy(update={"persona": persona.model_copy(update={"profile_source": profile})})


def _write_scripts(pairs: Sequence[tuple[Persona, PersonaSpec]]) -> None:
    """A script's keys are dropped when its content changes."""
    stored = list(GraderScript.objects.filter(persona__in=[row.pk for row, _ in pairs]))
    known = {(script.persona_id, script.path, script.blob_id): script for script in stored}
    wanted = []
    for row, spec in pairs:
        for file in spec.scripts:
            same = known.get((row.pk, file.path, file.sha256))
            wanted.append(
                GraderScript(
                    persona=row,
                    path=file.path,
                    blob_id=file.sha256,
                    keys=same.keys if same else None,
                    problem=same.problem if same else "",
                )
            )
    sync(stored, wanted, key=lambda script: (script.persona_id, script.path), fields=["blob_id", "keys", "problem"])
