"""New tasks, blank or from another task or a starting point: a whole task with blanks to fill in. Tasks marked as
templates of their benchmark are offered first."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from studio.domain.arrangement import ArrangementError, arrangement_of, validate_arrangement
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec, Split, with_split
from studio.domain.task import TaskSpec
from studio.domain.uids import default_uid
from studio.drafts.authors import contributors_to
from studio.drafts.events import record
from studio.drafts.load import load_episode, load_task
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError, validate_storable, validate_unused_id
from studio.findings.refresh import refresh_findings
from studio.models import Persona, Task, User
from studio.models.transactions import atomic_with_retry
from studio.tasks import copy_tasks

FILE = Path(__file__).resolve().parents[2] / "fixtures" / "starting_points.json"


@dataclass(frozen=True)
class StartingPoint:
    key: str
    name: str
    when: str
    """When to use it, in a sentence."""
    spec: TaskSpec
    """Blanks read ``<insert …>``, which the checks report."""


@lru_cache(maxsize=1)
def starting_points() -> dict[str, StartingPoint]:
    return {row["key"]: _read(row) for row in json.loads(FILE.read_text("utf-8"))}


def _read(row: dict[str, Any]) -> StartingPoint:
    key, name, when = (row.pop(field) for field in ("key", "name", "when"))
    uids = [default_uid("", key, "intents", number) for number in range(1, len(row["intents"]) + 1)]
    for uid, intent in zip(uids, row["intents"], strict=True):
        intent |= {"uid": uid, "recoverable_from": intent.pop("from")}
    for number, item in enumerate(row["checklist"], 1):
        follows = [uids[position - 1] for position in item["follows_from"]]
        item |= {"uid": default_uid("", key, "checklist", number), "follows_from": follows}
    return StartingPoint(key, name, when, TaskSpec.model_validate({"task_id": key, **row}))


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
    _record_template(template, row, by=by)
    return NewTask(row, warnings)


def _from_template(persona: Persona, template: Template) -> tuple[TaskSpec, list[FileRef], tuple[str, ...]]:
    """The spec, grader scripts to copy with it, and warnings."""
    if isinstance(template, Task):
        plan = copy_tasks.plan_copy([template], persona)
        return plan.copies[0].spec, list(plan.scripts.values()), tuple(plan.copies[0].warnings)
    return template.spec.model_copy(update={"user_id": persona.user_id}), [], ()


def _record_template(template: Template, row: Task, *, by: User) -> None:
    if isinstance(template, Task):
        copy_tasks.copy_event(template, row, by=by).save()
    else:
        summary = f"From the starting point “{template.name}”."
        record(row, "started", by=by, summary=summary, data={"starting_point": template.key})


def _validate_position(new: EpisodeSpec, spec: TaskSpec) -> None:
    try:
        validate_arrangement(
            arrangement_of(new), {task.task_id: task for task in (*new.tasks, *new.unplaced)}, [spec.task_id]
        )
    except ArrangementError as error:
        raise DraftError("depends_on", str(error)) from None


@atomic_with_retry
def mark_template(task: Task, *, by: User, marked: bool) -> None:
    if Task.objects.filter(pk=task.pk).exclude(is_template=marked).update(is_template=marked):
        record(task, "made_template" if marked else "unmade_template", by=by, summary="")
