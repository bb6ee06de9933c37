"""Tasks copied, or moved, into an episode: their own, another persona's, another benchmark's. All or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.drafts.load import load_episodes
from studio.drafts.locks import lock_all
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import Event, Persona, Task, TaskState, User
from studio.tasks.copy_plan import CopyError, CopyPlan, TaskCopy, free_path, plan_copy
from studio.tasks.transitions import apply_transition

__all__ = ["CopyError", "copy_event", "copy_tasks", "free_path", "plan_copy"]


@transaction.atomic
def copy_tasks(
    tasks: Sequence[Task], target: Persona, *, by: User, moving: bool = False, theirs: bool = False
) -> list[Task]:
    """Do it: every task with its files, a first version that says where it comes from. Where they are moved, the
    originals are taken out of their episode and retired. Raises CopyError, and then nothing happened."""
    personas = {target.pk, *(task.episode.persona_id for task in tasks)}
    list(Persona.objects.select_for_update().filter(pk__in=personas).order_by("pk"))
    target = Persona.objects.select_related("benchmark__taxonomy", "episode").get(pk=target.pk)
    tasks = list(
        Task.objects.select_for_update(of=("self",))
        .filter(pk__in=[task.pk for task in tasks])
        .select_related("group", "episode__persona__benchmark")
        .order_by("pk")
    )
    plan = plan_copy(tasks, target, moving=moving, theirs=theirs)
    if plan.refused:
        raise CopyError(" ".join(f"“{line.task}”: {line.refusal}" for line in plan.refused[:3]))
    old = load_episodes([target])[target.pk]
    place = len(old.tasks)
    rows: list[Task] = []
    for line in plan.lines:
        place += line.task.position is not None
        position = place if line.task.position is not None else None
        rows.append(Task(episode=target.episode, task_id=line.spec.task_id, position=position))
    try:
        save_tasks([(row, line.spec) for row, line in zip(rows, plan.lines, strict=True)], by=by, verb="created")
        Event.objects.bulk_create(
            copy_event(line.task, row, target, by=by, moving=moving) for row, line in zip(rows, plan.lines, strict=True)
        )
        new = load_episodes([target])[target.pk]
        new = _with_company(new, old, plan)
        note = f"{'Moved' if moving else 'Copied'} {len(rows)} {'task' if len(rows) == 1 else 'tasks'} here."
        save_personas([(target, old, new)], by=by, note=note, verb="edited")
        if moving:
            _retire(plan, by=by)
    except DraftError as refusal:
        raise CopyError(str(refusal)) from None
    refresh_findings(Persona.objects.filter(pk__in=personas))
    return rows


def copy_event(task: Task, row: Task, target: Persona, *, by: User, moving: bool = False) -> Event:
    """The line of history of ``row``, made from ``task``; not stored yet."""
    persona = task.episode.persona
    verb = "moved" if moving else "copied"
    return Event(
        benchmark_id=target.benchmark_id,
        persona=target,
        task=row,
        actor=by,
        verb=verb,
        summary=f"{verb.title()} from “{_short(str(task))}” ({persona.benchmark} › {persona}), version {task.version}.",
        data={"from": task.pk, "from_version": task.version},
    )


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def _with_company(new: EpisodeSpec, old: EpisodeSpec, plan: CopyPlan) -> EpisodeSpec:
    """The episode with the scripts and what the groups carry over; copies in their own episode after the originals."""
    scripts = {file.path: file for file in (*new.persona.scripts, *plan.scripts.values())}
    persona = new.persona.model_copy(update={"scripts": tuple(scripts[path] for path in sorted(scripts))})
    said = {group.name for group in new.groups}
    words = {
        line.task.group.name: line.task.group.carries_over
        for line in plan.lines
        if line.task.group and line.task.group.carries_over and line.task.group.name not in said
    }
    groups = (*new.groups, *(GroupSpec(name=name, carries_over=text) for name, text in words.items()))
    tasks = new.tasks
    own = [line.task.task_id for line in plan.lines if line.task.episode.persona_id == plan.target.pk]
    originals = [place for place, task in enumerate(old.tasks, 1) if task.task_id in own]
    if originals and len(own) == len(plan.lines):
        after = max(originals)
        tasks = (*new.tasks[:after], *new.tasks[len(old.tasks) :], *new.tasks[after : len(old.tasks)])
    return new.model_copy(update={"persona": persona, "groups": groups, "tasks": tasks})


def _retire(plan: CopyPlan, *, by: User) -> None:
    moved: dict[int, list[TaskCopy]] = {}
    for line in plan.lines:
        moved.setdefault(line.task.episode.persona_id, []).append(line)
    for persona in Persona.objects.filter(pk__in=moved):
        lines = moved[persona.pk]
        gone = {line.task.task_id for line in lines}
        old = load_episodes([persona])[persona.pk]
        stays = tuple(task for task in old.tasks if task.task_id not in gone)
        aside = tuple(task for task in (*old.unplaced, *old.tasks) if task not in stays)
        rows = {line.task.task_id: line.task for line in lines}
        bare = [task for task in old.tasks if task.task_id in gone and task.depends_on]
        save_tasks([(rows[task.task_id], task.model_copy(update={"depends_on": ()})) for task in bare], by=by)
        note = f"Moved {len(lines)} to {plan.target}."
        save_personas(
            [(persona, old, old.model_copy(update={"tasks": stays, "unplaced": aside}))],
            by=by,
            note=note,
            verb="reordered",
        )
    left = [line.task.pk for lines in moved.values() for line in lines if line.task.state != TaskState.RETIRED]
    apply_transition("retire", lock_all(left), by=by)
