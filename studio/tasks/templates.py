"""Tasks marked as templates of their benchmark: new tasks are started from them first."""

from __future__ import annotations

from studio.drafts.events import record
from studio.models import Task, User
from studio.models.transactions import atomic_with_retry


@atomic_with_retry
def mark_template(task: Task, *, by: User, marked: bool) -> None:
    if Task.objects.filter(pk=task.pk).exclude(is_template=marked).update(is_template=marked):
        record(task, "made_template" if marked else "unmade_template", by=by, summary="")
