"""Every save of a draft: rows, the next revision, a line of history, findings; an approval is taken back."""

from __future__ import annotations

from django.db import transaction

from studio.domain.task import TaskSpec
from studio.drafts.load import load_episodes, load_tasks
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import SavedTask, save_tasks
from studio.drafts.validate import StaleDraftError, refuse_taken_id
from studio.findings.refresh import refresh_findings
from studio.models import Revision, Task, User


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

    ``base_version`` is the ``Task.version`` the edit started from. Raises StaleDraftError if that is not the newest
    any more, DraftError (with field and item) for what cannot be stored.
    """
    row = Task.objects.select_for_update(of=("self",)).select_related("group", "episode__persona").get(pk=task_id)
    if base_version is not None and base_version != row.version:
        raise StaleDraftError(row.version)
    if spec.task_id != row.task_id:
        saved = _rename(row, spec, by=by, note=note, verb=verb)
    else:
        saved = save_tasks([(row, spec)], by=by, note=note, verb=verb)[0]
    if saved.revision is None:
        return row.revisions.get(number=row.version)
    refresh_findings([row.episode.persona])
    return saved.revision


def _rename(row: Task, spec: TaskSpec, *, by: User | None, note: str, verb: str) -> SavedTask:
    """Save under a new id. The tasks that depend on it and the episode's order name it too, so they get a new
    version each."""
    persona = row.episode.persona
    refuse_taken_id(spec.task_id, row.episode.tasks.exclude(pk=row.pk).values_list("task_id", flat=True))
    old = load_episodes([persona])[persona.pk]
    [saved] = save_tasks([(row, spec)], by=by, note=note, verb=verb)
    dependents = list(Task.objects.filter(dependencies__requires=row).select_related("group"))
    specs = load_tasks(dependents)
    save_tasks(
        [(dependent, specs[dependent.pk]) for dependent in dependents],
        by=by,
        touched={dependent.pk: "depends_on" for dependent in dependents},
    )
    save_personas([(persona, old, load_episodes([persona])[persona.pk])], by=by, verb="edited")
    return saved
