"""New tasks, blank or from a starting point or another task."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from studio.domain.arrangement import ArrangementError, arrangement_of, validate_arrangement
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec, Split, with_split
from studio.domain.task import TaskSpec
from studio.drafts.authors import contributors_to
from studio.drafts.load import load_episode, load_task
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError, validate_storable, validate_unused_id
from studio.findings.refresh import refresh_findings
from studio.models import Event, Persona, Task, User
from studio.models.transactions import atomic_with_retry
from studio.tasks import copy_tasks
from studio.tasks.starting_points import StartingPoint

Template = StartingPoint | Task


@atomic_with_retry
def create_task(
    persona: Persona,
    spec: TaskSpec,
    *,
    by: User | None,
    note: str = "",
    before: str = "",
    scripts: Sequence[FileRef] = (),
    origin: Task | None = None,
) -> Task:
    """Create a task before the task with the id ``before``, or at the end, adding the grader ``scripts`` to the
    persona. ``origin``: whose text it has; its authors are authors here too, and its split is kept. Raises
    DraftError."""
    validate_storable(spec)
    persona = Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    old = load_episode(persona)
    validate_unused_id(spec.task_id, [task.task_id for task in (*old.tasks, *old.unplaced)])
    row = Task(persona=persona, task_id=spec.task_id, position=len(old.tasks) + 1)
    authors: Collection[int] = ()
    if origin:
        row.split, authors = origin.split, contributors_to(origin, origin.version)
    save_tasks([(row, spec)], by=by, note=note, verb="created", origin_authors=[authors])
    created = load_task(row)
    index = next((n for n, task in enumerate(old.tasks) if task.task_id == before), len(old.tasks))
    by_path = {file.path: file for file in (*old.persona.scripts, *scripts)}
    new = old.model_copy(
        update={
            "tasks": (*old.tasks[:index], created, *old.tasks[index:]),
            "splits": with_split(old.splits, {spec.task_id: Split(row.split)}),
            "persona": old.persona.model_copy(update={"scripts": tuple(by_path[path] for path in sorted(by_path))}),
        }
    )
    if index < len(old.tasks):
        _validate_position(new, spec)
    save_personas(
        [(persona, old, new)],
        by=by,
        note=f"Added the task “{spec.task_id}”."[:300],
        verb="edited",
    )
    row.refresh_from_db(fields=["position"])
    refresh_findings([persona])
    return row


@dataclass(frozen=True)
class NewTask:
    task: Task
    warnings: tuple[str, ...] = ()
    """What it lost or refers to in its episode."""


@atomic_with_retry
def start_task(
    persona: Persona,
    template: Template,
    *,
    task_id: str,
    title: str = "",
    request: str = "",
    by: User,
    before: str = "",
) -> NewTask:
    """Create a task with the content of ``template``, except for ``title`` and ``request`` if given. Raises DraftError,
    CopyError."""
    Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    spec, scripts, warnings = _from_template(persona, template)
    given: dict[str, Any] = {
        "task_id": task_id,
        "title": title or spec.title,
        "initial_request": request or spec.initial_request,
    }
    if spec.source:
        given["source"] = {**spec.source, **({"task_id": task_id} if "task_id" in spec.source else {})}
    if not given["title"].strip():
        raise DraftError("title", "Enter a title; the template has none.")
    row = create_task(
        persona,
        spec.model_copy(update=given),
        by=by,
        before=before,
        scripts=scripts,
        origin=template if isinstance(template, Task) else None,
    )
    _record_template(persona, template, row, by=by)
    return NewTask(row, warnings)


def _from_template(persona: Persona, template: Template) -> tuple[TaskSpec, list[FileRef], tuple[str, ...]]:
    """The spec, grader scripts to copy with it, and warnings."""
    if isinstance(template, Task):
        plan = copy_tasks.plan_copy([template], persona)
        return plan.copies[0].spec, list(plan.scripts.values()), tuple(plan.copies[0].warnings)
    return template.spec.model_copy(update={"user_id": persona.user_id}), [], ()


def _record_template(persona: Persona, template: Template, row: Task, *, by: User) -> None:
    if isinstance(template, Task):
        copy_tasks.copy_event(template, row, persona, by=by).save()
        return
    Event.objects.create(
        benchmark_id=persona.benchmark_id,
        persona=persona,
        task=row,
        actor=by,
        verb="started",
        summary=f"From the starting point “{template.name}”.",
        data={"starting_point": template.key},
    )


def _validate_position(new: EpisodeSpec, spec: TaskSpec) -> None:
    try:
        validate_arrangement(
            arrangement_of(new), {task.task_id: task for task in (*new.tasks, *new.unplaced)}, [spec.task_id]
        )
    except ArrangementError as error:
        raise DraftError("depends_on", str(error)) from None
