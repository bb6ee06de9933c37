"""What each task's score depends on, kept beside its document whenever a task or a persona is saved."""

from __future__ import annotations

from collections.abc import Collection

from studio.domain.content import content_hash, parts_of_tasks
from studio.domain.persona import PersonaSpec
from studio.models import Persona, Task, User
from studio.notifications.notify import notify_of_outdated_approvals

BATCH = 500


def refresh_contents(personas: Collection[int], *, by: User | None) -> None:
    """For all tasks of these personas. They are locked, so that nothing is computed from what another save replaces.
    Whoever approved a task whose approval is outdated by this is told."""
    rows = list(Persona.objects.select_for_update(no_key=True).filter(pk__in=personas).order_by("pk").defer(None))
    tasks: dict[int, list[Task]] = {row.pk: [] for row in rows}
    for task in Task.objects.filter(persona__in=rows).defer(None).order_by("pk"):
        tasks[task.persona_id].append(task)
    changed, outdated = [], []
    for row in rows:
        parts = parts_of_tasks((task.spec for task in tasks[row.pk]), PersonaSpec.model_validate(row.spec))
        for task in tasks[row.pk]:
            own = parts[task.task_id]
            content = content_hash(own)
            if task.parts != own or task.content != content:
                held = not task.outdated
                task.parts, task.content = own, content
                changed.append(task)
                if held and task.outdated:
                    outdated.append(task)
    Task.objects.bulk_update(changed, ["parts", "content"], batch_size=BATCH)
    notify_of_outdated_approvals(outdated, by=by)
