"""A new task begun with something: a starting point of the studio, a template of the benchmark, another task."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from studio.domain.base import FileRef
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode
from studio.drafts.validate import DraftError
from studio.models import Event, Persona, Task, TaskTemplate, TemplateFile, User
from studio.tasks import copy_tasks
from studio.tasks.create import create_task
from studio.tasks.starting_points import StartingPoint

Template = StartingPoint | TaskTemplate | Task


@dataclass(frozen=True)
class NewTask:
    task: Task
    words: tuple[str, ...] = ()
    """What was left behind, or met, on the way."""


@transaction.atomic
def start_task(
    persona: Persona, start: Template, *, task_id: str, title: str = "", request: str = "", by: User, before: str = ""
) -> NewTask:
    """A task of the persona's with everything that ``start`` has; ``title`` and ``request`` take the place of its own
    where they are given. Raises DraftError, CopyError."""
    Persona.objects.select_for_update().get(pk=persona.pk)
    spec, scripts, words = _brought(persona, start)
    given = {"task_id": task_id, "title": title or spec.title, "initial_request": request or spec.initial_request}
    if spec.source:
        given["source"] = {**spec.source, **({"task_id": task_id} if "task_id" in spec.source else {})}  # type: ignore[assignment]
    if not given["title"].strip():
        raise DraftError("title", "Enter a title; the template has none.")
    row = create_task(persona, spec.model_copy(update=given), by=by, before=before, scripts=scripts)
    _tell(persona, start, row, by=by)
    return NewTask(row, words)


def _brought(persona: Persona, start: Template) -> tuple[TaskSpec, list[FileRef], tuple[str, ...]]:
    """The task as it will be here, grader scripts that come along, and what a person should know of it."""
    if isinstance(start, Task):
        plan = copy_tasks.plan_copy([start], persona)
        return plan.lines[0].spec, list(plan.scripts.values()), tuple(plan.lines[0].words)
    if isinstance(start, StartingPoint):
        return start.spec.model_copy(update={"user_id": persona.user_id}), [], ()
    spec = TaskSpec.model_validate(start.spec).model_copy(update={"user_id": persona.user_id})
    if not spec.grader_script:
        return spec, [], ()
    file = start.files.filter(kind=TemplateFile.Kind.SCRIPT).select_related("blob").first()
    scripts, words, path = [], [], spec.grader_script
    if file:
        script = FileRef(path=path, sha256=file.blob_id, size=file.blob.size)
        taken = {one.path: one.sha256 for one in load_episode(persona).persona.scripts}
        if taken.get(path, script.sha256) != script.sha256:
            path = copy_tasks.free_path(path, script, taken)
            words.append(f"Its grader script is copied as “{path}”, because the name is taken.")
        scripts.append(script.model_copy(update={"path": path}))
    return spec.model_copy(update={"grader_script": f"data/{persona.user_id}/{path}"}), scripts, tuple(words)


def _tell(persona: Persona, start: Template, row: Task, *, by: User) -> None:
    if isinstance(start, Task):
        copy_tasks.copy_event(start, row, persona, by=by).save()
        return
    kept = isinstance(start, TaskTemplate)
    Event.objects.create(
        benchmark_id=persona.benchmark_id,
        persona=persona,
        task=row,
        actor=by,
        verb="started",
        summary=f"From the {'template' if kept else 'starting point'} “{start.name}”.",
        data={"template": start.pk} if isinstance(start, TaskTemplate) else {"starting_point": start.key},
    )
