"""Bulk saves of tasks: documents, revisions and events. Callers lock the rows and refresh findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from django.utils import timezone

from studio.domain.base import JsonDict, hash_of_text, text_of_document
from studio.domain.content import pieces_of
from studio.domain.diff import content_fields, differing_keys, save_summary
from studio.domain.episode import Split
from studio.domain.plan import PlacedTask
from studio.domain.splits import why_cut
from studio.domain.task import TaskSpec
from studio.domain.uids import uid_of
from studio.drafts.contents import refresh_contents
from studio.drafts.events import event
from studio.drafts.validate import DraftError, validate_storable
from studio.models import Event, Persona, Revision, Task, TaskState, User
from studio.models.tasks import SPEC_FIELDS
from studio.notifications.notify import notify_of_edits

BATCH = 200
SAVED_FIELDS = [*SPEC_FIELDS, "persona", "state", "version", "updated_at", "last_author"]
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
    origin_authors: Sequence[Collection[int]] = (),
    told: Sequence[JsonDict] = (),
) -> list[SavedTask]:
    """Save drafts in a constant number of queries. New rows are created at their ``position``. ``origin_authors``: for
    each pair, the ids of those who wrote its text elsewhere; ``told``: what its event holds besides. Raises
    DraftError."""
    for _, spec in pairs:
        validate_storable(spec)
    stored = dict(Task.objects.filter(pk__in=[row.pk for row, _ in pairs if row.pk]).values_list("pk", "spec"))
    changed: list[tuple[Task, TaskSpec]] = []
    changes: dict[int, tuple[str, ...]] = {}
    """Fields by index in ``pairs``."""
    for index, (row, given) in enumerate(pairs):
        spec, before = canonical(given), stored.get(row.pk)
        differ = differing_keys(before or {**_EMPTY, "task_id": spec.task_id}, spec.to_json())
        fields = content_fields(differ)
        if fields or row.version == 0:
            changes[index] = tuple(fields)
            changed.append((row, _renamed(before, spec) if before else spec))
    ended = {row.pk: row.version for row, _ in changed if row.state in ENDED_BY_EDITS}
    _write(changed, by=by)
    notify_of_edits(ended, by=by)
    revisions = _create_revisions([row for row, _ in changed], by=by, note=note)
    if origin_authors:
        _store_origin_authors({revisions[pairs[index][0].pk]: origin_authors[index] for index in changes})
    events = _events([row for row, _ in changed], changes.values(), by=by, verb=verb, note=note)
    for made, index in zip(events, changes if told else (), strict=False):
        made.data |= told[index]
    Event.objects.bulk_create(events, batch_size=BATCH)
    return [
        SavedTask(
            row=row,
            revision=revisions.get(row.pk) if index in changes else None,
            created=index in changes and row.version == 1,
            fields=changes.get(index, ()),
        )
        for index, (row, _) in enumerate(pairs)
    ]


def _write(pairs: Sequence[tuple[Task, TaskSpec]], *, by: User | None) -> None:
    now = timezone.now()
    for row, spec in pairs:
        row.set_spec(spec)
        row.version += 1
        row.updated_at, row.last_author = now, by
        if row.state in ENDED_BY_EDITS:
            row.state = TaskState.DRAFT
    Task.objects.bulk_update([row for row, _ in pairs if row.pk], SAVED_FIELDS, batch_size=BATCH)
    Task.objects.bulk_create([row for row, _ in pairs if not row.pk], batch_size=BATCH)
    _validate_dependencies(pairs)
    _validate_splits({row.persona_id for row, _ in pairs})
    refresh_contents({row.persona_id for row, _ in pairs}, by=by)


def _validate_dependencies(pairs: Sequence[tuple[Task, TaskSpec]]) -> None:
    """The database refuses the same, without naming the field."""
    dependent = [(row, spec) for row, spec in pairs if spec.depends_on]
    positions = {
        (persona, task_id): position
        for persona, task_id, position in Task.objects.filter(
            persona__in={row.persona_id for row, _ in dependent}
        ).values_list("persona_id", "task_id", "position")
    }
    for row, spec in dependent:
        own = positions[row.persona_id, row.task_id]
        for number, dependency in enumerate(spec.depends_on, 1):
            if (row.persona_id, dependency.task_id) not in positions:
                raise DraftError(
                    "depends_on", f"The episode has no task “{dependency.task_id}”. Choose an earlier one.", number
                )
            required = positions[row.persona_id, dependency.task_id]
            if own is None or required is None or required >= own:
                raise DraftError(
                    "depends_on",
                    f"“{dependency.task_id}” does not come before “{spec.task_id}” in the episode: "
                    "choose an earlier task, or move one of the two.",
                    number,
                )


def _validate_splits(personas: Set[int]) -> None:
    """The database refuses the same, without naming the group."""
    rows = Task.objects.filter(persona__in=personas)
    for persona in rows.exclude(split=Split.PUBLIC).order_by().values_list("persona", flat=True).distinct():
        tasks = list(rows.filter(persona=persona).only("task_id", "title", "group", "needs", "split"))
        placed = (PlacedTask(task.task_id, tuple(task.needs), task.group.strip()) for task in tasks)
        splits = {task.task_id: Split(task.split) for task in tasks}
        if problem := why_cut(placed, splits, {task.task_id: str(task) for task in tasks}):
            raise DraftError("depends_on", problem)


def canonical(spec: TaskSpec) -> TaskSpec:
    """The task as it would be loaded again: files by path, links to intents in the order of the intents."""
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


def _renamed(before: JsonDict, new: TaskSpec) -> TaskSpec:
    """Rename in the imported document too, which exports preserve."""
    if before["task_id"] in ("", new.task_id) or new.source != before["source"] or "task_id" not in new.source:
        return new
    return new.model_copy(update={"source": {**new.source, "task_id": new.task_id}})


def _create_revisions(tasks: Sequence[Task], *, by: User | None, note: str) -> dict[int, Revision]:
    rows = Revision.objects.bulk_create(
        [
            Revision(
                task=row,
                number=row.version,
                spec=row.spec,
                sha256=hash_of_text(text_of_document(row.spec)),
                pieces=pieces_of(row.spec),
                note=note[:300],
                created_by=by,
            )
            for row in tasks
        ],
        batch_size=BATCH,
    )
    return {row.task_id: row for row in rows}


def _store_origin_authors(authors: Mapping[Revision, Collection[int]]) -> None:
    through = Revision.origin_authors.through
    through.objects.bulk_create(
        [
            through(revision_id=revision.pk, user_id=author)
            for revision, people in authors.items()
            for author in sorted({*people} - {revision.created_by_id})
        ],
        batch_size=BATCH,
    )


def _events(
    rows: Sequence[Task], changes: Iterable[Sequence[str]], *, by: User | None, verb: str, note: str
) -> list[Event]:
    bare = [row for row in rows if not Task.persona.is_cached(row)]
    personas = Persona.objects.in_bulk({row.persona_id for row in bare}) if bare else {}
    for row in bare:
        row.persona = personas[row.persona_id]
    return [
        event(
            row,
            "created" if row.version == 1 and verb == "edited" else verb,
            by=by,
            summary=save_summary(row.version, fields, verb=verb, note=note),
            data={"fields": list(fields)},
        )
        for row, fields in zip(rows, changes, strict=True)
    ]
