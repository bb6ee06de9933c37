"""Bulk saves of tasks: rows, revisions and events. Callers lock the rows and refresh findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from studio.domain.base import JsonDict, hash_of_text, text_of_document
from studio.domain.changes import content_fields, differing_keys, save_summary
from studio.domain.task import TaskSpec
from studio.domain.uids import uid_of
from studio.drafts.load import load_tasks
from studio.drafts.sync import BATCH
from studio.drafts.validate import validate_storable
from studio.drafts.write_groups import delete_empty_groups, write_groups
from studio.drafts.write_tasks import TASK_FIELDS, set_task_fields, write_task_rows
from studio.models import Episode, Event, Revision, Task, TaskState, User
from studio.models.copying import FEW, create_rows, update_rows
from studio.notifications.notify import notify_of_edits

ENDED_BY_EDITS = {TaskState.APPROVED, TaskState.RELEASED, TaskState.IN_REVIEW}
"""States that concern one revision, so an edit ends them."""
_EMPTY = TaskSpec(task_id="").to_json()


@dataclass(frozen=True)
class SavedTask:
    row: Task
    revision: Revision | None
    """None if nothing differed."""
    created: bool
    fields: tuple[str, ...]
    """Fields of the TaskSpec that changed."""


def save_tasks(
    pairs: Sequence[tuple[Task, TaskSpec]],
    *,
    by: User | None,
    note: str = "",
    verb: str = "edited",
    touched: Mapping[int, str] | None = None,
    origin_authors: Sequence[Collection[int]] = (),
) -> list[SavedTask]:
    """Save drafts in a constant number of queries. New rows are created at their ``position``. ``touched``: by task
    key, the field of tasks that count as changed because what it refers to has changed. ``origin_authors``: for
    each pair, the ids of those who wrote its text elsewhere."""
    touched = touched or {}
    for _, spec in pairs:
        validate_storable(spec)
    stored = load_tasks(row.pk for row, _ in pairs if row.pk)
    changed: list[tuple[Task, TaskSpec]] = []
    documents: list[JsonDict] = []
    """The specs in ``changed`` as JSON."""
    differing: list[frozenset[str]] = []
    """Fields whose rows differ, of each in ``changed``."""
    changes: dict[int, tuple[str, ...]] = {}
    """Fields by index in ``pairs``."""
    for index, (row, given) in enumerate(pairs):
        spec = canonical(given)
        document, before = spec.to_json(), stored.get(row.pk)
        differ = differing_keys(before.to_json() if before else {**_EMPTY, "task_id": spec.task_id}, document)
        fields = content_fields(differ) or ([touched[row.pk]] if row.pk in touched else [])
        if fields or row.version == 0:
            changes[index] = tuple(fields)
            renamed = _renamed(before, spec) if before else spec
            changed.append((row, renamed))
            documents.append(document if renamed is spec else renamed.to_json())
            differing.append(frozenset(differ))
    ended = {row.pk: row.version for row, _ in changed if row.state in ENDED_BY_EDITS}
    _write(changed, differing)
    notify_of_edits(ended, by=by)
    revisions = _create_revisions([row for row, _ in changed], documents, by=by, note=note)
    if origin_authors:
        _store_origin_authors({revisions[pairs[index][0].pk]: origin_authors[index] for index in changes})
    _record_events(changed, list(changes.values()), by=by, verb=verb, note=note)
    return [
        SavedTask(
            row=row,
            revision=revisions.get(row.pk) if index in changes else None,
            created=index in changes and row.version == 1,
            fields=changes.get(index, ()),
        )
        for index, (row, _) in enumerate(pairs)
    ]


def _write(changed: Sequence[tuple[Task, TaskSpec]], differing: Sequence[frozenset[str]]) -> None:
    if not changed:
        return
    regrouped = [pair for pair, fields in zip(changed, differing, strict=True) if "group" in fields]
    if regrouped:
        write_groups(regrouped)
    new: list[Task] = []
    now = timezone.now()
    for row, spec in changed:
        set_task_fields(row, spec)
        row.version += 1
        row.updated_at = now
        if row.state in ENDED_BY_EDITS:
            row.state = TaskState.DRAFT
        if row.pk is None:
            new.append(row)
    _update([row for row, _ in changed if row.pk])
    create_rows(new, batch_size=BATCH)
    write_task_rows(changed, differing, new={row.pk for row in new} if len(new) >= FEW else ())
    if regrouped:
        delete_empty_groups({row.episode_id for row, _ in regrouped})


def _update(rows: Sequence[Task]) -> None:
    if len(rows) == 1:  # a third of what one row costs in bulk_update
        [row] = rows
        columns = {field.name: field.attname for field in Task._meta.concrete_fields}
        values = {name: getattr(row, columns[name]) for name in TASK_FIELDS}
        Task.objects.filter(pk=row.pk).update(**values)
    else:
        update_rows(rows, TASK_FIELDS)


def canonical(spec: TaskSpec) -> TaskSpec:
    """The task as it would be loaded again: files by path, links to intents in the order of the intents."""
    if _is_canonical(spec):
        return spec
    order = {uid_of(intent.uid): index for index, intent in enumerate(spec.intents)}
    return spec.model_copy(
        update={
            "intents": tuple(intent.model_copy(update={"uid": uid_of(intent.uid)}) for intent in spec.intents),
            "checklist": tuple(
                item.model_copy(
                    update={
                        "uid": uid_of(item.uid),
                        "follows_from": tuple(
                            sorted(
                                {uid_of(uid) for uid in item.follows_from} & order.keys(),
                                key=order.__getitem__,
                            )
                        ),
                    }
                )
                for item in spec.checklist
            ),
            "assets": tuple(sorted(spec.assets, key=lambda file: file.path)),
        }
    )


def _is_canonical(spec: TaskSpec) -> bool:
    """Whether that is certain at a glance, as it is of most imported tasks."""
    paths = [file.path for file in spec.assets]
    return (
        not any(item.follows_from for item in spec.checklist)
        and all(uid_of(uid) == uid for uid in (part.uid for parts in (spec.intents, spec.checklist) for part in parts))
        and sorted(paths) == paths
    )


def _renamed(old: TaskSpec, new: TaskSpec) -> TaskSpec:
    """Rename in the imported document too, which exports preserve."""
    if old.task_id in ("", new.task_id) or new.source != old.source or "task_id" not in new.source:
        return new
    return new.model_copy(update={"source": {**new.source, "task_id": new.task_id}})


def _create_revisions(
    tasks: Sequence[Task], documents: Sequence[JsonDict], *, by: User | None, note: str
) -> dict[int, Revision]:
    texts = [text_of_document(document) for document in documents]
    rows = [
        Revision(
            task=row,
            number=row.version,
            spec=document,
            sha256=hash_of_text(text),
            note=note[:300],
            created_by=by,
        )
        for row, document, text in zip(tasks, documents, texts, strict=True)
    ]
    return {row.task_id: row for row in create_rows(rows, batch_size=BATCH * 2, written={"spec": texts})}


def _store_origin_authors(authors: Mapping[Revision, Collection[int]]) -> None:
    through = Revision.origin_authors.through
    create_rows(
        [
            through(revision_id=revision.pk, user_id=author)
            for revision, people in authors.items()
            for author in sorted({*people} - {revision.created_by_id})
        ],
        batch_size=BATCH * 2,
    )


def _record_events(
    pairs: Sequence[tuple[Task, TaskSpec]],
    changes: Sequence[tuple[str, ...]],
    *,
    by: User | None,
    verb: str,
    note: str,
) -> None:
    personas = _owners([row for row, _ in pairs])
    events: list[Any] = []
    for (row, _), fields in zip(pairs, changes, strict=True):
        persona, benchmark = personas[row.episode_id]
        events.append(
            Event(
                benchmark_id=benchmark,
                persona_id=persona,
                task=row,
                actor=by,
                verb="created" if row.version == 1 and verb == "edited" else verb,
                summary=save_summary(row.version, fields, verb=verb, note=note),
                data={"fields": list(fields), "version": row.version},
            )
        )
    create_rows(events, batch_size=BATCH * 2)


def _owners(rows: Sequence[Task]) -> dict[int, tuple[int, int]]:
    """Persona and benchmark by episode key; read for rows that came without."""
    loaded = {row.episode_id: row.episode for row in rows if Task.episode.is_cached(row)}
    owners = {
        key: (episode.persona_id, episode.persona.benchmark_id)
        for key, episode in loaded.items()
        if Episode.persona.is_cached(episode)
    }
    if missing := {row.episode_id for row in rows} - owners.keys():
        unknown = Episode.objects.filter(pk__in=missing).values_list("pk", "persona_id", "persona__benchmark_id")
        owners |= {key: (persona, benchmark) for key, persona, benchmark in unknown}
    return owners
