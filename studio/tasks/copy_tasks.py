"""Copies and moves of tasks into any episode, planned first: all or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec, GroupSpec
from studio.domain.persona import script_path
from studio.domain.task import TaskSpec
from studio.drafts.authors import contributors_to_tasks
from studio.drafts.events import event
from studio.drafts.load import load_episode, load_episodes, load_tasks, lock_all
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import ENDED_BY_EDITS, save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import Event, Persona, Task, TaskState, User
from studio.models.transactions import atomic_with_retry
from studio.tasks.transitions import apply_transition

MAX_COPIES = 300
"""Tasks in one copy."""


class CopyError(ValueError):
    """Nothing was copied; the message says why."""


@dataclass
class TaskCopy:
    task: Task
    spec: TaskSpec
    """The copy."""
    warnings: list[str] = field(default_factory=list)
    """What the copy loses or refers to in its new episode."""
    refusal: str = ""
    """Why the task cannot be moved."""


@dataclass
class CopyPlan:
    target: Persona
    copies: list[TaskCopy]
    scripts: dict[str, FileRef] = field(default_factory=dict)
    """Grader scripts that are copied too, by their path in the target."""
    script_clashes: list[str] = field(default_factory=list)
    """Paths at which the target has a different grader script."""

    @property
    def refused(self) -> list[TaskCopy]:
        return [copy for copy in self.copies if copy.refusal]


def plan_copy(tasks: Sequence[Task], target: Persona, *, moving: bool = False, keep_scripts: bool = False) -> CopyPlan:
    """Plan the copies in run order. Raises CopyError.

    With ``keep_scripts``, copies use the target's grader script of the same name; otherwise their own is copied under
    another name.
    """
    if not tasks:
        raise CopyError("Choose at least one task.")
    if len(tasks) > MAX_COPIES:
        raise CopyError(f"At most {MAX_COPIES} tasks can be copied at a time; you selected {len(tasks)}.")
    tasks = sorted(tasks, key=lambda task: (task.persona_id, task.position is None, task.position or 0, task.pk))
    specs = load_tasks(task.pk for task in tasks)
    sources = {task.persona for task in tasks}
    episodes = load_episodes({*sources, target})
    target_episode = episodes[target.pk]
    ids = _new_ids(tasks, target_episode)
    plan = CopyPlan(target, [])
    taxonomy = target.benchmark.taxonomy
    codes = {"", *(taxonomy.categories.values_list("code", flat=True) if taxonomy else ())}
    for task in tasks:
        persona = task.persona
        copy = TaskCopy(task, specs[task.pk].model_copy(update={"task_id": ids[task.pk], "user_id": target.user_id}))
        if moving:
            copy.refusal = _why_not_movable(task, target, tasks, episodes[persona.pk])
        if persona.pk != target.pk:
            _rewrite_dependencies(copy, task, tasks, ids, target_episode)
            _copy_script(plan, copy, episodes[persona.pk], target_episode, keep_existing=keep_scripts)
            _warn_of_unknown(copy, target, target_episode, codes)
        if copy.spec.source:
            source = {**copy.spec.source, **_in_source(copy.spec)}
            copy.spec = copy.spec.model_copy(update={"source": source})
        plan.copies.append(copy)
    return plan


def _new_ids(tasks: Sequence[Task], target_episode: EpisodeSpec) -> dict[int, str]:
    taken = {task.task_id.casefold() for task in (*target_episode.tasks, *target_episode.unplaced)}
    ids = {}
    for task in tasks:
        ids[task.pk] = free_id(task.task_id, taken)
        taken.add(ids[task.pk].casefold())
    return ids


def free_id(task_id: str, taken: Collection[str]) -> str:
    """``taken``: ids in lower case (``casefold``)."""
    stem, number, name = task_id[:180].strip(), 1, task_id
    while name.casefold() in taken:
        name = f"{stem}_copy" + (f"_{number}" if number > 1 else "")
        number += 1
    return name


def _why_not_movable(task: Task, target: Persona, tasks: Sequence[Task], source_episode: EpisodeSpec) -> str:
    if task.persona_id == target.pk:
        return "It is already in this episode."
    if task.state in ENDED_BY_EDITS:
        return f"It is {task.get_state_display().lower()}, so it can be copied but not moved."
    moved = {other.task_id for other in tasks if other.persona_id == task.persona_id}
    for other in (*source_episode.tasks, *source_episode.unplaced):
        if other.task_id not in moved and any(dependency.task_id == task.task_id for dependency in other.depends_on):
            name = other.title or other.task_id
            return f"“{name}” builds on it and would stay behind. Move both, or remove the dependency first."
    return ""


def _rewrite_dependencies(
    copy: TaskCopy, task: Task, tasks: Sequence[Task], ids: Mapping[int, str], target_episode: EpisodeSpec
) -> None:
    """Preserve dependencies on tasks that are copied too or exist in the target under the same id."""
    copied_ids = {other.task_id: ids[other.pk] for other in tasks if other.persona_id == task.persona_id}
    known = {other.task_id for other in target_episode.tasks}
    dependencies = []
    for dependency in copy.spec.depends_on:
        if dependency.task_id in copied_ids:
            dependencies.append(dependency.model_copy(update={"task_id": copied_ids[dependency.task_id]}))
        elif dependency.task_id in known and task.position is not None:
            dependencies.append(dependency)
            copy.warnings.append(f"Builds on the existing “{dependency.task_id}” there.")
        else:
            copy.warnings.append(f"Does not build on “{dependency.task_id}” any more, since that task is not copied.")
    intents = tuple(
        intent.model_copy(
            update={
                "recoverable_from": tuple(
                    source.model_copy(update={"ref": copied_ids.get(source.ref, source.ref)})
                    if source.kind == "session"
                    else source
                    for source in intent.recoverable_from
                )
            }
        )
        for intent in copy.spec.intents
    )
    copy.spec = copy.spec.model_copy(update={"depends_on": tuple(dependencies), "intents": intents})


def _copy_script(
    plan: CopyPlan, copy: TaskCopy, source_episode: EpisodeSpec, target_episode: EpisodeSpec, *, keep_existing: bool
) -> None:
    if not copy.spec.grader_script:
        return
    script = source_episode.persona.script(copy.spec.grader_script)
    path = script_path(source_episode.persona.user_id, copy.spec.grader_script)
    if script is None:
        copy.warnings.append(f"Its grader script “{path}” is missing here as well.")
    else:
        taken = {file.path: file.sha256 for file in (*target_episode.persona.scripts, *plan.scripts.values())}
        if taken.get(path, script.sha256) != script.sha256:
            plan.script_clashes.append(path)
            if keep_existing:
                copy.warnings.append(f"Is graded by the “{path}” that is already there, which is a different script.")
            else:
                path = free_path(path, script, taken)
                copy.warnings.append(f"Its grader script is copied as “{path}”, because the name is taken.")
        elif path not in taken:
            copy.warnings.append(f"Its grader script “{path}” is copied too.")
        if not (keep_existing and path in plan.script_clashes):
            plan.scripts[path] = script.model_copy(update={"path": path})
    copy.spec = copy.spec.model_copy(update={"grader_script": f"data/{target_episode.persona.user_id}/{path}"})


def free_path(path: str, script: FileRef, taken: Mapping[str, str]) -> str:
    """A path that no different script has; ``taken``: hashes by path."""
    stem, number = path.removesuffix(".py"), 2
    while taken.get(f"{stem}_{number}.py", script.sha256) != script.sha256:
        number += 1
    return f"{stem}_{number}.py"


def _warn_of_unknown(copy: TaskCopy, target: Persona, target_episode: EpisodeSpec, codes: Collection[str]) -> None:
    skills = {skill.name for skill in target_episode.persona.skills}
    for what, names, known in (
        ("tool", copy.spec.tools, set(target_episode.persona.tools)),
        ("skill", copy.spec.skills, skills),
    ):
        if unknown := [name for name in names if name not in known]:
            word = what if len(unknown) == 1 else f"{what}s"
            copy.warnings.append(f"{target} does not have the {word} {', '.join(f'“{name}”' for name in unknown)}.")
    if copy.task.persona.benchmark_id != target.benchmark_id and copy.spec.category not in codes:
        copy.warnings.append(f"Loses its category “{copy.spec.category}”, which {target.benchmark} does not have.")
        copy.spec = copy.spec.model_copy(update={"category": ""})


def _in_source(spec: TaskSpec) -> dict[str, str]:
    return {name: getattr(spec, name) for name in ("task_id", "user_id") if name in spec.source}


@atomic_with_retry
def copy_tasks(
    tasks: Sequence[Task], target: Persona, *, by: User, moving: bool = False, keep_scripts: bool = False
) -> list[Task]:
    """Copy the tasks with their files. When ``moving``, the originals leave their episode and are retired. See
    ``plan_copy``. Raises CopyError."""
    personas = {target.pk, *(task.persona_id for task in tasks)}
    list(Persona.objects.select_for_update(no_key=True).filter(pk__in=personas).order_by("pk"))
    target = Persona.objects.select_related("benchmark__taxonomy").get(pk=target.pk)
    tasks = lock_all(task.pk for task in tasks)
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
