"""Saving many personas and the order of their episodes. The caller holds the rows and refreshes findings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from django.utils import timezone

from studio.domain.base import JsonDict
from studio.domain.changes import changed_fields, save_summary
from studio.domain.episode import EpisodeSpec
from studio.drafts.sync import BATCH
from studio.drafts.validate import refuse_unstorable
from studio.drafts.write import PERSONA_FIELDS, set_persona_fields, write_group_words, write_persona_parts
from studio.models import Episode, Event, Persona, PersonaRevision, Task, User


def save_personas(
    triples: Sequence[tuple[Persona, EpisodeSpec, EpisodeSpec]],
    *,
    by: User | None,
    note: str = "",
    verb: str,
) -> list[tuple[str, ...]]:
    """Persona, episode header and order of each: row, what it was, what it shall be. The tasks' own content is
    ``save_tasks``' business, and every task named must have a row. Returns the fields that changed.

    To be called inside a transaction that holds the rows.
    """
    results: list[tuple[str, ...]] = []
    changed = []
    for row, old, new in triples:
        refuse_unstorable(new.persona)
        fields = changed_fields(old.persona, new.persona)
        if json.dumps(_header(old)) != json.dumps(_header(new)):
            fields.append("episode")
        results.append(tuple(fields))
        if fields or row.version == 0:
            changed.append((row, new, fields))
    if not changed:
        return results
    changed = [(row, _renamed(row, new), fields) for row, new, fields in changed]
    for row, new, _ in changed:
        set_persona_fields(row, new.persona)
        row.version += 1
        row.updated_at = timezone.now()
    Persona.objects.bulk_update([row for row, _, _ in changed], PERSONA_FIELDS, batch_size=BATCH)
    write_persona_parts([(row, new.persona) for row, new, _ in changed])
    _write_episodes([(row, new) for row, new, _ in changed])
    write_group_words([(row, new) for row, new, _ in changed])
    PersonaRevision.objects.bulk_create(
        PersonaRevision(
            persona=row,
            number=row.version,
            spec=new.persona.to_json(),
            episode=_header(new),
            sha256=new.model_copy(update={"tasks": (), "unplaced": ()}).content_hash(),
            note=note[:300],
            created_by=by,
        )
        for row, new, _ in changed
    )
    Event.objects.bulk_create(
        Event(
            benchmark_id=row.benchmark_id,
            persona=row,
            actor=by,
            verb="created" if row.version == 1 and verb == "edited" else verb,
            summary=save_summary(row.version, fields, verb=verb, note=note),
            data={"fields": fields, "version": row.version},
        )
        for row, _, fields in changed
    )
    return results


def _write_episodes(pairs: Iterable[tuple[Persona, EpisodeSpec]]) -> None:
    specs = {row.pk: spec for row, spec in pairs}
    episodes = list(Episode.objects.filter(persona__in=specs))
    for episode in episodes:
        spec = specs[episode.persona_id]
        episode.episode_id, episode.docker_image_id = (
            spec.episode_id,
            spec.docker_image_id,
        )
        episode.source = spec.source
    Episode.objects.bulk_update(episodes, ["episode_id", "docker_image_id", "source"], batch_size=BATCH)
    places = {
        (episode.pk, task.task_id): place
        for episode in episodes
        for place, task in enumerate(specs[episode.persona_id].tasks, 1)
    }
    moved = []
    for task in Task.objects.filter(episode__in=episodes).only("pk", "task_id", "episode_id", "position"):
        place = places.get((task.episode_id, task.task_id))
        if place != task.position:
            task.position = place
            moved.append(task)
    Task.objects.bulk_update(moved, ["position"], batch_size=BATCH * 5)


def _header(episode: EpisodeSpec) -> JsonDict:
    return {
        "episode_id": episode.episode_id,
        "docker_image_id": episode.docker_image_id,
        "source": episode.source,
        "order": [task.task_id for task in episode.tasks],
        **({"groups": {group.name: group.carries_over for group in episode.groups}} if episode.groups else {}),
    }


def _renamed(row: Persona, new: EpisodeSpec) -> EpisodeSpec:
    """A new id goes into the imported profile too: the writer keeps what stands there."""
    persona = new.persona
    source = persona.profile_source
    if row.user_id == persona.user_id or row.profile_source != source or "user_id" not in source:
        return new
    profile = {**source, "user_id": persona.user_id}
    return new.model_copy(update={"persona": persona.model_copy(update={"profile_source": profile})})
