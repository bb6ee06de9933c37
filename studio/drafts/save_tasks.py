"""Saving many tasks or personas: rows, next revisions, events. Callers hold the rows and refresh findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from studio.domain.changes import changed_fields, save_summary
from studio.domain.task import TaskSpec
from studio.domain.uids import uid_of
from studio.drafts.load import load_tasks
from studio.drafts.sync import BATCH
from studio.drafts.validate import refuse_unstorable
from studio.drafts.write import TASK_FIELDS, drop_empty_groups, set_task_fields, write_groups, write_parts
from studio.models import Episode, Event, Revision, Task, TaskState, User
from studio.notifications.notify import notify_of_edits

ENDED_BY_EDITS = {TaskState.APPROVED, TaskState.RELEASED, TaskState.IN_REVIEW}
"""States that speak of one revision, and so end when the task is edited."""


@dataclass(frozen=True)
class SavedTask:
    """What a save did to one task."""

    row: Task
    revision: Revision | None
    """The new one; None: nothing differed."""
    created: bool
    fields: tuple[str, ...]
    """What changed, by field of the TaskSpec."""


def save_tasks(
    pairs: Sequence[tuple[Task, TaskSpec]],
    *,
    by: User | None,
    note: str = "",
    verb: str = "edited",
    touched: Mapping[int, str] | None = None,
) -> list[SavedTask]:
    """Save many drafts in a number of queries that does not grow with them; the caller refreshes findings.

    Rows that are not stored yet become stored, at the place they name. ``touched`` are tasks that count as changed
    though their own rows are not, with the field by which what they name has changed. To be called inside a
    transaction that holds the rows.
    """
    touched = touched or {}
    for _, spec in pairs:
        refuse_unstorable(spec)
    stored = load_tasks([row for row, _ in pairs if row.pk])
    changed: list[tuple[Task, TaskSpec]] = []
    changes: dict[int, tuple[str, ...]] = {}
    """Fields by place in ``pairs``."""
    for place, (row, given) in enumerate(pairs):
        spec = canonical(given)
        before = stored.get(row.pk) or TaskSpec(task_id=spec.task_id)
        fields = changed_fields(before, spec) or ([touched[row.pk]] if row.pk in touched else [])
        if fields or row.version == 0:
            changes[place] = tuple(fields)
            changed.append((row, _renamed(before, spec)))
    settled = {row.pk: row.version for row, _ in changed if row.state in ENDED_BY_EDITS}
    _write(changed)
    notify_of_edits(settled, by=by)
    revisions = _freeze(changed, by=by, note=note)
    _tell(changed, list(changes.values()), by=by, verb=verb, note=note)
    return [
        SavedTask(
            row=row,
            revision=revisions.get(row.pk) if place in changes else None,
            created=place in changes and row.version == 1,
            fields=changes.get(place, ()),
        )
        for place, (row, _) in enumerate(pairs)
    ]


def _write(changed: Sequence[tuple[Task, TaskSpec]]) -> None:
    if not changed:
        return
    write_groups(changed)
    new: list[Task] = []
    for row, spec in changed:
        set_task_fields(row, spec)
        row.version += 1
        row.updated_at = timezone.now()
        if row.state in ENDED_BY_EDITS:
            row.state = TaskState.DRAFT
        if row.pk is None:
            new.append(row)
    Task.objects.bulk_update([row for row, _ in changed if row.pk], TASK_FIELDS, batch_size=BATCH)
    Task.objects.bulk_create(new, batch_size=BATCH)
    write_parts(changed)
    drop_empty_groups({row.episode_id for row, _ in changed})


def canonical(spec: TaskSpec) -> TaskSpec:
    """The same task as rows give it back: files by path, links to intents in the intents' order."""
    places = {uid_of(intent.uid): place for place, intent in enumerate(spec.intents)}
    return spec.model_copy(
        update={
            "intents": tuple(intent.model_copy(update={"uid": uid_of(intent.uid)}) for intent in spec.intents),
            "checklist": tuple(
                item.model_copy(
                    update={
                        "uid": uid_of(item.uid),
                        "follows_from": tuple(
                            sorted(
                                {uid_of(uid) for uid in item.follows_from} & places.keys(),
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
    changes: Sequence[tuple[str, ...]],
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
    Event.objects.bulk_create(events, batch_size=BATCH * 2)
