"""New personas and tasks."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from studio.domain.arrangement import StepRefused, arrangement_of, refuse_broken
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftRefused, refuse_taken_id, refuse_unstorable
from studio.findings.refresh import refresh_findings
from studio.models import Benchmark, Episode, Persona, Task, User
from studio.personas.save import save_personas
from studio.tasks.save import save_tasks


@transaction.atomic
def create_persona(benchmark: Benchmark, spec: PersonaSpec, *, by: User | None, note: str = "") -> Persona:
    """A persona with an empty episode. Raises DraftRefused if the benchmark has one of this id."""
    refuse_unstorable(spec)
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if (other := benchmark.personas.filter(user_id__iexact=spec.user_id).first()) is not None:
        raise DraftRefused("user_id", f"There is a persona “{other.user_id}” already: choose another id.")
    last = benchmark.personas.order_by("-position").values_list("position", flat=True).first()
    row = Persona.objects.create(benchmark=benchmark, user_id=spec.user_id, position=(last or 0) + 1)
    Episode.objects.create(persona=row, episode_id=f"ep_{spec.user_id}"[:200])
    old = load_episodes([row])[row.pk]
    save_personas(
        [(row, old, old.model_copy(update={"persona": spec}))],
        by=by,
        note=note,
        verb="created",
    )
    return row


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
    persona gets by it. Raises DraftRefused if the episode has a task of this id."""
    refuse_unstorable(spec)
    persona = Persona.objects.select_for_update().get(pk=persona.pk)
    old = load_episodes([persona])[persona.pk]
    refuse_taken_id(spec.task_id, [task.task_id for task in (*old.tasks, *old.unplaced)])
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
        refuse_broken(arrangement_of(new), {task.task_id: task for task in (*new.tasks, *new.unplaced)}, [spec.task_id])
    except StepRefused as refusal:
        raise DraftRefused("depends_on", str(refusal)) from None
