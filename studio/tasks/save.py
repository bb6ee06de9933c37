"""Saving tasks, for pages, autosave, API, bulk changes and suggestions.

A save writes the rows, a revision, an event and the findings, and withdraws an approval.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from studio.domain.merge import FieldPath
from studio.domain.task import TaskSpec
from studio.drafts.authors import contributors_to
from studio.drafts.autosave import EditorKey
from studio.drafts.editor import Draft, DraftEditor
from studio.drafts.load import load_episode, load_tasks, lock
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import SavedTask, canonical, save_tasks
from studio.drafts.validate import StaleDraftError, validate_unused_id
from studio.findings.refresh import refresh_findings
from studio.models import Revision, Task, User
from studio.models.transactions import atomic_with_retry
from studio.tasks.versions import TaskVersions


class TaskEditor(DraftEditor[TaskSpec]):
    def __init__(self, task: Task, user: User) -> None:
        self.task, self.user = task, user
        self.key = EditorKey(task=task)
        self.versions: TaskVersions = TaskVersions(task)

    def lock(self) -> None:
        self.versions.lock()

    def canonical(self, spec: TaskSpec) -> TaskSpec:
        return canonical(spec)

    def store(self, spec: TaskSpec, *, note: str) -> int:
        revision = save_task(self.task.pk, spec, by=self.user, note=note, base_version=self.task.version)
        self.task.refresh_from_db(fields=["version", "state"])
        return revision.number


def save_rebased(
    task_id: int, spec: TaskSpec, *, by: User, base_version: int, note: str = "", unresolved: Sequence[FieldPath] = ()
) -> Revision:
    """Save an edit of ``base_version`` with later changes of others. Raises ConflictError, DraftError."""
    task = Task.objects.get(pk=task_id)
    outcome = TaskEditor(task, by).commit(Draft(spec, base_version, tuple(unresolved)), note=note)
    return task.revisions.get(number=outcome.version)


@atomic_with_retry
def save_task(
    task_id: int,
    spec: TaskSpec,
    *,
    by: User | None,
    note: str = "",
    base_version: int | None = None,
    verb: str = "edited",
    origin_authors: Collection[int] = (),
) -> Revision:
    """Make ``spec`` the task's draft and return its newest revision, which stays the same if nothing differs.

    Raises StaleDraftError if ``base_version`` is given and not the newest, and DraftError.
    """
    row = lock(task_id)
    if base_version is not None and base_version != row.version:
        raise StaleDraftError(row.version)
    [saved] = save_locked([(row, spec)], by=by, note=note, verb=verb, origin_authors=origin_authors)
    return saved.revision or row.revisions.get(number=row.version)


@atomic_with_retry
def restore_version(task: Task, number: int, *, by: User) -> Revision:
    """Make an earlier version the draft; its authors are authors of the new version too. Raises DraftError."""
    return save_task(
        task.pk,
        TaskSpec.model_validate(task.revisions.get(number=number).spec),
        by=by,
        note=f"Restored version {number}.",
        verb="restored",
        origin_authors=contributors_to(task, number),
    )


def save_locked(
    pairs: Sequence[tuple[Task, TaskSpec]],
    *,
    by: User | None,
    note: str = "",
    verb: str = "edited",
    origin_authors: Collection[int] = (),
) -> list[SavedTask]:
    """Save tasks whose rows are locked and loaded with ``persona``; refresh findings. Raises
    DraftError."""
    renamed = [(row, spec) for row, spec in pairs if spec.task_id != row.task_id]
    same_id = [(row, spec) for row, spec in pairs if spec.task_id == row.task_id]
    saved = []
    if same_id:
        saved = save_tasks(same_id, by=by, note=note, verb=verb, origin_authors=[origin_authors] * len(same_id))
    saved += [_rename(row, spec, by=by, note=note, verb=verb, origin_authors=origin_authors) for row, spec in renamed]
    personas = {task.row.persona_id: task.row.persona for task in saved if task.revision}
    if personas:
        refresh_findings(personas.values())
    return saved


def _rename(
    row: Task, spec: TaskSpec, *, by: User | None, note: str, verb: str, origin_authors: Collection[int]
) -> SavedTask:
    """Tasks that depend on it, and the episode's order, get a new version with the new id too."""
    persona = row.persona
    validate_unused_id(spec.task_id, row.persona.tasks.exclude(pk=row.pk).values_list("task_id", flat=True))
    old = load_episode(persona)
    before = row.task_id
    [saved] = save_tasks([(row, spec)], by=by, note=note, verb=verb, origin_authors=[origin_authors])
    dependents = list(Task.objects.filter(persona=row.persona, needs__contains=[before]))
    specs = load_tasks(row.pk for row in dependents)
    save_tasks(
        [(dependent, specs[dependent.pk].with_renamed_need(before, spec.task_id)) for dependent in dependents], by=by
    )
    save_personas([(persona, old, load_episode(persona))], by=by, verb="edited")
    return saved
