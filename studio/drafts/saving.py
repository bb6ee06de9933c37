"""Every save of a draft: rows, the next revision, a line of history, findings; an approval is taken back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from studio.drafts.findings import refresh_findings
from studio.drafts.loading import load_episodes, load_tasks
from studio.drafts.refusing import DraftRefused, refuse_taken_id, refuse_unstorable
from studio.drafts.syncing import BATCH
from studio.drafts.writing import (
    PERSONA_FIELDS,
    TASK_FIELDS,
    drop_empty_groups,
    set_persona_fields,
    set_task_fields,
    write_groups,
    write_parts,
    write_persona_parts,
)
from studio.models import (
    Episode,
    Event,
    Persona,
    PersonaRevision,
    Revision,
    Task,
    TaskState,
    User,
)
from studio.spec.base import JsonDict
from studio.spec.changes import changed_fields, summary
from studio.spec.episode import EpisodeSpec
from studio.spec.persona import PersonaSpec
from studio.spec.task import TaskSpec

SETTLED = {TaskState.APPROVED, TaskState.RELEASED, TaskState.IN_REVIEW}
"""States that speak of one revision, and so end when the task is edited."""


class StaleDraft(Exception):
    """Someone else saved first. ``current`` is the version stored now."""

    def __init__(self, current: int) -> None:
        super().__init__("Someone else has saved this in the meantime: compare, then save again.")
        self.current = current


@dataclass(frozen=True)
class SavedTask:
    """What a save did to one task."""

    row: Task
    revision: Revision | None
    """The new one; None: nothing differed."""
    created: bool
    fields: tuple[str, ...]
    """What changed, by field of the TaskSpec."""


@transaction.atomic
def save_task(
    task_id: int,
    spec: TaskSpec,
    *,
    by: User | None,
    note: str = "",
    base_version: int | None = None,
    verb: str = "edited",
) -> Revision:
    """Make ``spec`` the task's draft and return its newest revision: the old one if nothing differs.

    ``base_version`` is the ``Task.version`` the edit started from. Raises StaleDraft if that is not the newest
    any more, DraftRefused (with field and item) for what cannot be stored.
    """
    row = Task.objects.select_for_update(of=("self",)).select_related("group", "episode__persona").get(pk=task_id)
    if base_version is not None and base_version != row.version:
        raise StaleDraft(row.version)
    if spec.task_id != row.task_id:
        refuse_taken_id(spec.task_id, row.episode.tasks.exclude(pk=row.pk).values_list("task_id", flat=True))
    saved = save_tasks([(row, spec)], by=by, note=note, verb=verb)[0]
    if saved.revision is None:
        return row.revisions.get(number=row.version)
    refresh_findings([row.episode.persona])
    return saved.revision


def save_tasks(
    pairs: Sequence[tuple[Task, TaskSpec]],
    *,
    by: User | None,
    note: str = "",
    verb: str = "edited",
) -> list[SavedTask]:
    """Save many drafts in a number of queries that does not grow with them; the caller refreshes findings.

    Rows without a revision yet count as new. To be called inside a transaction that holds the rows.
    """
    for _, spec in pairs:
        refuse_unstorable(spec)
    pairs = [(row, canonical(spec)) for row, spec in pairs]
    before = load_tasks([row for row, _ in pairs])
    changes: dict[int, tuple[str, ...]] = {}
    for row, spec in pairs:
        fields = changed_fields(before[row.pk], spec)
        if fields or row.version == 0:
            changes[row.pk] = tuple(fields)
    changed = [(row, _renamed(before[row.pk], spec)) for row, spec in pairs if row.pk in changes]
    if changed:
        write_groups(changed)
        for row, spec in changed:
            set_task_fields(row, spec)
            row.version += 1
            row.updated_at = timezone.now()
            if row.state in SETTLED:
                row.state = TaskState.DRAFT
        Task.objects.bulk_update([row for row, _ in changed], TASK_FIELDS, batch_size=BATCH)
        write_parts(changed)
        drop_empty_groups({row.episode_id for row, _ in changed})
    revisions = _freeze(changed, by=by, note=note)
    _tell(changed, changes, by=by, verb=verb, note=note)
    return [
        SavedTask(
            row=row,
            revision=revisions.get(row.pk),
            created=row.pk in changes and row.version == 1,
            fields=changes.get(row.pk, ()),
        )
        for row, _ in pairs
    ]


@transaction.atomic
def save_persona(
    persona_id: int,
    spec: PersonaSpec,
    *,
    by: User | None,
    note: str = "",
    base_version: int | None = None,
    verb: str = "edited",
) -> PersonaRevision:
    """Likewise for a persona with its tools, skills and files. File contents must be stored (``Blob``) before."""
    row = Persona.objects.select_for_update().get(pk=persona_id)
    if base_version is not None and base_version != row.version:
        raise StaleDraft(row.version)
    old = load_episodes([row])[row.pk]
    new = old.model_copy(update={"persona": spec})
    if save_personas([(row, old, new)], by=by, note=note, verb=verb)[0]:
        refresh_findings([row])
    return row.revisions.get(number=row.version)


@transaction.atomic
def save_order(persona_id: int, order: Sequence[str], *, by: User | None, note: str = "") -> PersonaRevision:
    """Make ``order`` the episode: the ids of its tasks as they shall run; tasks left out stay as unplaced drafts.

    Raises DraftRefused if a task would come before one it depends on, or leave while another needs it.
    """
    row = Persona.objects.select_for_update().get(pk=persona_id)
    old = load_episodes([row])[row.pk]
    tasks = {task.task_id: task for task in (*old.tasks, *old.unplaced)}
    if len(set(order)) < len(order) or not set(order) <= tasks.keys():
        raise DraftRefused("order", "Name every task of the episode once.")
    places = {task_id: place for place, task_id in enumerate(order)}
    for task in tasks.values():
        for position, dependency in enumerate(task.depends_on, 1):
            if places.get(dependency.task_id, len(order)) >= places.get(task.task_id, -1):
                raise DraftRefused(
                    "order",
                    f"“{task.task_id}” builds on “{dependency.task_id}” and must come after it.",
                    position,
                )
    new = old.model_copy(
        update={
            "tasks": tuple(tasks[task_id] for task_id in order),
            "unplaced": tuple(tasks[task_id] for task_id in sorted(tasks) if task_id not in places),
        }
    )
    if save_personas([(row, old, new)], by=by, note=note, verb="reordered")[0]:
        refresh_findings([row])
    return row.revisions.get(number=row.version)


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
    for row, new, _ in changed:
        set_persona_fields(row, new.persona)
        row.version += 1
        row.updated_at = timezone.now()
    Persona.objects.bulk_update([row for row, _, _ in changed], PERSONA_FIELDS, batch_size=BATCH)
    write_persona_parts([(row, new.persona) for row, new, _ in changed])
    _write_episodes([(row, new) for row, new, _ in changed])
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
            summary=_summary(row.version, fields, verb=verb, note=note),
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
    }


def canonical(spec: TaskSpec) -> TaskSpec:
    """The same task as rows give it back: files by path, links to intents in the intents' order."""
    places = {_uid(intent.uid): place for place, intent in enumerate(spec.intents)}
    return spec.model_copy(
        update={
            "intents": tuple(intent.model_copy(update={"uid": _uid(intent.uid)}) for intent in spec.intents),
            "checklist": tuple(
                item.model_copy(
                    update={
                        "uid": _uid(item.uid),
                        "follows_from": tuple(
                            sorted(
                                {_uid(uid) for uid in item.follows_from} & places.keys(),
                                key=places.__getitem__,
                            )
                        ),
                    }
                )
                for item in spec.checklist
            ),
            "assets": tuple(sorted(spec.assets, key=lambda file: file.path)),
        }
    )


def _uid(text: str) -> str:
    """As PostgreSQL writes it. What is no UUID gets one that depends on the text alone."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, text))


def _renamed(old: TaskSpec, new: TaskSpec) -> TaskSpec:
    """A new id goes into the imported document too: the writer keeps what stands there."""
    if old.task_id in ("", new.task_id) or new.source != old.source or "task_id" not in new.source:
        return new
    return new.model_copy(update={"source": {**new.source, "task_id": new.task_id}})


def _freeze(pairs: Iterable[tuple[Task, TaskSpec]], *, by: User | None, note: str) -> dict[int, Revision]:
    rows = [
        Revision(
            task=row,
            number=row.version,
            spec=spec.to_json(),
            sha256=spec.content_hash(),
            note=note[:300],
            created_by=by,
        )
        for row, spec in pairs
    ]
    return {row.task_id: row for row in Revision.objects.bulk_create(rows, batch_size=BATCH * 2)}


def _tell(
    pairs: Sequence[tuple[Task, TaskSpec]],
    changes: dict[int, tuple[str, ...]],
    *,
    by: User | None,
    verb: str,
    note: str,
) -> None:
    personas: dict[int, tuple[int, int]] = {
        key: (persona, benchmark)
        for key, persona, benchmark in Episode.objects.filter(pk__in={row.episode_id for row, _ in pairs}).values_list(
            "pk", "persona_id", "persona__benchmark_id"
        )
    }
    events: list[Any] = []
    for row, _ in pairs:
        persona, benchmark = personas[row.episode_id]
        events.append(
            Event(
                benchmark_id=benchmark,
                persona_id=persona,
                task=row,
                actor=by,
                verb="created" if row.version == 1 and verb == "edited" else verb,
                summary=_summary(row.version, changes[row.pk], verb=verb, note=note),
                data={"fields": list(changes[row.pk]), "version": row.version},
            )
        )
    Event.objects.bulk_create(events, batch_size=BATCH * 2)


def _summary(version: int, fields: Sequence[str], *, verb: str, note: str) -> str:
    first = "Imported." if verb == "imported" else "Created."
    return " ".join(filter(None, [note, first if version == 1 else summary(fields)]))
