"""Copies and moves of tasks into any episode: all or none."""

from __future__ import annotations

from collections.abc import Sequence

from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.drafts.authors import contributors_to_tasks
from studio.drafts.events import event
from studio.drafts.load import load_episode, lock_all
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import Event, Persona, Task, TaskState, User
from studio.models.transactions import atomic_with_retry
from studio.tasks.copy_plan import CopyError, CopyPlan, TaskCopy, free_path, plan_copy
from studio.tasks.transitions import apply_transition

__all__ = ["CopyError", "copy_event", "copy_tasks", "free_path", "plan_copy"]


@atomic_with_retry
def copy_tasks(
    tasks: Sequence[Task], target: Persona, *, by: User, moving: bool = False, keep_scripts: bool = False
) -> list[Task]:
    """Copy the tasks with their files. When ``moving``, the originals leave their episode and are retired. See
    ``plan_copy``. Raises CopyError."""
    personas = {target.pk, *(task.persona_id for task in tasks)}
    list(Persona.objects.select_for_update(no_key=True).filter(pk__in=personas).order_by("pk"))
    target = Persona.objects.select_related("benchmark__taxonomy").get(pk=target.pk)
    tasks = list(
        Task.objects.select_for_update(no_key=True, of=("self",))
        .filter(pk__in=[task.pk for task in tasks])
        .select_related("persona__benchmark")
        .order_by("pk")
    )
    plan = plan_copy(tasks, target, moving=moving, keep_scripts=keep_scripts)
    if plan.refused:
        raise CopyError(" ".join(f"“{copy.task}”: {copy.refusal}" for copy in plan.refused[:3]))
    old = load_episode(target)
    last = len(old.tasks)
    rows: list[Task] = []
    for copy in plan.copies:
        last += copy.task.position is not None
        position = last if copy.task.position is not None else None
        rows.append(Task(persona=target, task_id=copy.spec.task_id, position=position, split=copy.task.split))
    try:
        pairs = list(zip(rows, plan.copies, strict=True))
        authors = contributors_to_tasks({task.pk: task.version for task in tasks})
        save_tasks(
            [(row, copy.spec) for row, copy in pairs],
            by=by,
            verb="created",
            origin_authors=[authors[copy.task.pk] for _, copy in pairs],
        )
        Event.objects.bulk_create(copy_event(copy.task, row, by=by, moving=moving) for row, copy in pairs)
        new = load_episode(target)
        new = _with_scripts_and_groups(new, old, plan)
        note = f"{'Moved' if moving else 'Copied'} {len(rows)} {'task' if len(rows) == 1 else 'tasks'} here."
        save_personas([(target, old, new)], by=by, note=note, verb="edited")
        if moving:
            _retire(plan, by=by)
    except DraftError as error:
        raise CopyError(str(error)) from None
    refresh_findings(Persona.objects.filter(pk__in=personas))
    return rows


def copy_event(task: Task, row: Task, *, by: User, moving: bool = False) -> Event:
    verb, source = "moved" if moving else "copied", f"{task.persona.benchmark} › {task.persona}"
    summary = f"{verb.title()} from “{_short(str(task))}” ({source}), version {task.version}."
    return event(row, verb, by=by, summary=summary, data={"from": task.pk, "from_version": task.version})


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def _with_scripts_and_groups(new: EpisodeSpec, old: EpisodeSpec, plan: CopyPlan) -> EpisodeSpec:
    scripts = {file.path: file for file in (*new.persona.scripts, *plan.scripts.values())}
    persona = new.persona.model_copy(update={"scripts": tuple(scripts[path] for path in sorted(scripts))})
    known = {group.name for group in new.groups}
    carryovers = {
        name: text
        for copy in plan.copies
        for name, text in copy.task.persona.episode.get("groups", {}).items()
        if name == copy.task.group and name not in known
    }
    groups = (*new.groups, *(GroupSpec(name=name, carries_over=text) for name, text in carryovers.items()))
    tasks = new.tasks
    own = [copy.task.task_id for copy in plan.copies if copy.task.persona_id == plan.target.pk]
    originals = [index for index, task in enumerate(old.tasks, 1) if task.task_id in own]
    if originals and len(own) == len(plan.copies):
        after = max(originals)
        tasks = (*new.tasks[:after], *new.tasks[len(old.tasks) :], *new.tasks[after : len(old.tasks)])
    return new.model_copy(update={"persona": persona, "groups": groups, "tasks": tasks})


def _retire(plan: CopyPlan, *, by: User) -> None:
    moved: dict[int, list[TaskCopy]] = {}
    for copy in plan.copies:
        moved.setdefault(copy.task.persona_id, []).append(copy)
    for persona in Persona.objects.filter(pk__in=moved):
        copies = moved[persona.pk]
        gone = {copy.task.task_id for copy in copies}
        old = load_episode(persona)
        placed = tuple(task for task in old.tasks if task.task_id not in gone)
        unplaced = tuple(task for task in (*old.unplaced, *old.tasks) if task not in placed)
        rows = {copy.task.task_id: copy.task for copy in copies}
        dependent = [task for task in old.tasks if task.task_id in gone and task.depends_on]
        save_tasks([(rows[task.task_id], task.model_copy(update={"depends_on": ()})) for task in dependent], by=by)
        note = f"Moved {len(copies)} to {plan.target}."
        save_personas(
            [(persona, old, old.model_copy(update={"tasks": placed, "unplaced": unplaced}))],
            by=by,
            note=note,
            verb="reordered",
        )
    left = [copy.task.pk for copies in moved.values() for copy in copies if copy.task.state != TaskState.RETIRED]
    apply_transition("retire", lock_all(left), by=by)
