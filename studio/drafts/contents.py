"""What each task's score depends on, kept beside its document whenever a task or a persona is saved."""

from __future__ import annotations

from collections.abc import Collection

from studio.domain.content import content_hash, links_of, parts_of, persona_parts
from studio.domain.persona import PersonaSpec
from studio.models import Persona, Task

BATCH = 500


def refresh_contents(personas: Collection[int]) -> None:
    """For all tasks of these personas. They are locked, so that nothing is computed from what another save replaces."""
    rows = list(Persona.objects.select_for_update(no_key=True).filter(pk__in=personas).order_by("pk").defer(None))
    tasks = list(Task.objects.filter(persona__in=rows).defer(None).order_by("pk"))
    links = {task.pk: links_of(task.spec) for task in tasks}
    changed = []
    for row in rows:
        own = [task for task in tasks if task.persona_id == row.pk]
        others = {links[task.pk].task_id: links[task.pk] for task in own}
        shared = persona_parts(PersonaSpec.model_validate(row.spec))
        for task in own:
            parts = parts_of(links[task.pk], others, shared, row.user_id)
            if task.parts != parts or not task.content:
                task.parts, task.content = parts, content_hash(parts)
                changed.append(task)
    Task.objects.bulk_update(changed, ["parts", "content"], batch_size=BATCH)
