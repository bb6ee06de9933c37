"""Building on a task that is scored on its own: what scores it moves to the task that builds on it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from studio.domain.task import Dependency, TaskSpec
from studio.drafts.authors import contributors_to
from studio.drafts.load import load_tasks, lock_all
from studio.drafts.validate import DraftError
from studio.models import Task, User
from studio.models.transactions import atomic_with_retry
from studio.tasks.save import save_locked


class BuildOnError(ValueError):
    """The message says why, and what to do."""


@dataclass(frozen=True)
class Moved:
    items: int
    script: bool
    earlier: Task


@atomic_with_retry
def build_on(task_id: int, earlier_id: int, *, by: User) -> Moved:
    """Move the items and the grader script of the earlier task here, with what judges are shown for them, and declare
    the dependency. Both tasks get a version. Raises BuildOnError."""
    rows = {row.pk: row for row in lock_all([task_id, earlier_id])}
    task, earlier = rows[task_id], rows.get(earlier_id)
    if earlier is None or not _runs_before(earlier, task):
        raise BuildOnError("Choose a task that comes before this one in the episode.")
    specs = load_tasks([task.pk, earlier.pk])
    here, there = specs[task.pk], specs[earlier.pk]
    if here.grader_script and there.grader_script and here.grader_script != there.grader_script:
        raise BuildOnError(f"Both this task and “{earlier}” have a grader script. Remove one of them first.")
    moved = Moved(len(there.checklist), bool(there.grader_script), earlier)
    bare = there.model_copy(update={"checklist": (), "grader_script": ""})
    try:
        save_locked(
            [(task, _with_scoring_of(here, there)), (earlier, bare)],
            by=by,
            note=f"Moved what scores “{earlier}” to “{task}”, which builds on it.",
            origin_authors=contributors_to(earlier, earlier.version),
        )
    except DraftError as error:
        raise BuildOnError(f"This cannot be saved: {error}") from None
    return moved


def _runs_before(earlier: Task, task: Task) -> bool:
    if earlier.persona_id != task.persona_id or not earlier.position or earlier.pk == task.pk:
        return False
    return task.position is not None and earlier.position < task.position


def _with_scoring_of(here: TaskSpec, there: TaskSpec) -> TaskSpec:
    moved = tuple(item.model_copy(update={"uid": str(uuid.uuid4()), "follows_from": ()}) for item in there.checklist)
    known = {evidence.tool for evidence in here.tool_evidence}
    declared = {dependency.task_id for dependency in here.depends_on}
    dependency = () if there.task_id in declared else (Dependency(task_id=there.task_id),)
    return here.model_copy(
        update={
            "checklist": (*here.checklist, *moved),
            "grader_script": here.grader_script or there.grader_script,
            "files_read": tuple(dict.fromkeys((*here.files_read, *there.files_read))),
            "tool_evidence": (*here.tool_evidence, *(each for each in there.tool_evidence if each.tool not in known)),
            "depends_on": (*here.depends_on, *dependency),
        }
    )
