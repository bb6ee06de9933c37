"""New personas and tasks."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from studio.domain.arrangement import ArrangementError, arrangement_of, validate_arrangement
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episodes
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError, validate_storable, validate_unused_id
from studio.findings.refresh import refresh_findings
from studio.models import Persona, Task, User


@transaction.atomic
def create_task(
    persona: Persona,
    spec: TaskSpec,
    *,
    by: User | None,
    note: str = "",
    before: str = "",
    scripts: Sequence[FileRef] = (),
) -> Task:
    """A task at the end of the persona's episode, or in front of the task ``before``, with grader ``scripts`` that the
    persona gets by it. Raises DraftError if the episode has a task of this id."""
    validate_storable(spec)
    persona = Persona.objects.select_for_update().get(pk=persona.pk)
    old = load_episodes([persona])[persona.pk]
    validate_unused_id(spec.task_id, [task.task_id for task in (*old.tasks, *old.unplaced)])
    row = Task(episode=persona.episode, task_id=spec.task_id, position=len(old.tasks) + 1)
    save_tasks([(row, spec)], by=by, note=note, verb="created")
    new = load_episodes([persona])[persona.pk]
    place = next((n for n, task in enumerate(old.tasks) if task.task_id == before), len(old.tasks))
    by_path = {file.path: file for file in (*new.persona.scripts, *scripts)}
    new = new.model_copy(
        update={
            "tasks": (*new.tasks[:place], new.tasks[-1], *new.tasks[place:-1]),
            "persona": new.persona.model_copy(update={"scripts": tuple(by_path[path] for path in sorted(by_path))}),
        }
    )
    if place < len(old.tasks):
        _refuse_too_early(new, spec)
    save_personas(
        [(persona, old, new)],
        by=by,
        note=f"Added the task “{spec.task_id}”."[:300],
        verb="edited",
    )
    row.refresh_from_db(fields=["position"])
    refresh_findings([persona])
    return row


def _refuse_too_early(new: EpisodeSpec, spec: TaskSpec) -> None:
    try:
        validate_arrangement(
            arrangement_of(new), {task.task_id: task for task in (*new.tasks, *new.unplaced)}, [spec.task_id]
        )
    except ArrangementError as refusal:
        raise DraftError("depends_on", str(refusal)) from None
