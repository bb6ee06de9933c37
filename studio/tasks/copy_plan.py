"""What becomes of tasks that are copied, or moved, into an episode: told before it is done."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import script_path
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episodes, load_tasks
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.models import Persona, Task

MOST = 300
"""Tasks at once."""


class CopyError(ValueError):
    """Nothing was copied; the text says why."""


@dataclass
class TaskCopy:
    """What becomes of one task."""

    task: Task
    spec: TaskSpec
    """As it will be."""
    words: list[str] = field(default_factory=list)
    """What it loses, or meets, on the way."""
    refusal: str = ""


@dataclass
class CopyPlan:
    target: Persona
    lines: list[TaskCopy]
    scripts: dict[str, FileRef] = field(default_factory=dict)
    """Grader scripts that come along, by their path there."""
    asks: list[str] = field(default_factory=list)
    """Scripts of which the target has another of that name."""

    @property
    def refused(self) -> list[TaskCopy]:
        return [line for line in self.lines if line.refusal]


def plan_copy(tasks: Sequence[Task], target: Persona, *, moving: bool = False, theirs: bool = False) -> CopyPlan:
    """What a copy would do to each task, in the order they run. ``theirs``: a grader script of the same name that the
    target has already grades the copies; otherwise ours comes along under another name. Raises CopyError."""
    if not tasks:
        raise CopyError("Choose at least one task.")
    if len(tasks) > MOST:
        raise CopyError(f"At most {MOST} tasks can be copied at a time; you selected {len(tasks)}.")
    tasks = sorted(tasks, key=lambda task: (task.episode_id, task.position is None, task.position or 0, task.pk))
    specs = load_tasks(tasks)
    sources = {task.episode.persona for task in tasks}
    episodes = load_episodes({*sources, target})
    there = episodes[target.pk]
    ids = _new_ids(tasks, there)
    plan = CopyPlan(target, [])
    taxonomy = target.benchmark.taxonomy
    codes = {"", *(taxonomy.categories.values_list("code", flat=True) if taxonomy else ())}
    for task in tasks:
        persona = task.episode.persona
        line = TaskCopy(task, specs[task.pk].model_copy(update={"task_id": ids[task.pk], "user_id": target.user_id}))
        if moving:
            line.refusal = _why_not_moved(task, target, tasks, episodes[persona.pk])
        if persona.pk != target.pk:
            _leave_behind(line, task, tasks, ids, there)
            _bring_script(plan, line, episodes[persona.pk], there, theirs=theirs)
            _name_unknown(line, target, there, codes)
        if line.spec.source:
            source = {**line.spec.source, **_in_source(line.spec)}
            line.spec = line.spec.model_copy(update={"source": source})
        plan.lines.append(line)
    return plan


def _new_ids(tasks: Sequence[Task], there: EpisodeSpec) -> dict[int, str]:
    taken = {task.task_id.casefold() for task in (*there.tasks, *there.unplaced)}
    ids = {}
    for task in tasks:
        stem, number, name = task.task_id[:180].strip(), 1, task.task_id
        while name.casefold() in taken:
            name = f"{stem}_copy" + (f"_{number}" if number > 1 else "")
            number += 1
        taken.add(name.casefold())
        ids[task.pk] = name
    return ids


def _why_not_moved(task: Task, target: Persona, tasks: Sequence[Task], here: EpisodeSpec) -> str:
    if task.episode.persona_id == target.pk:
        return "It is already in this episode."
    if task.state in ENDED_BY_EDITS:
        return "It is in review, approved or released, so it can be copied but not moved."
    moved = {other.task_id for other in tasks if other.episode_id == task.episode_id}
    for other in (*here.tasks, *here.unplaced):
        if other.task_id not in moved and any(need.task_id == task.task_id for need in other.depends_on):
            name = other.title or other.task_id
            return f"“{name}” builds on it and would stay behind. Move both, or remove the dependency first."
    return ""


def _leave_behind(
    line: TaskCopy, task: Task, tasks: Sequence[Task], ids: Mapping[int, str], there: EpisodeSpec
) -> None:
    """Dependencies on tasks that come along, or are there by the same id, stay; the others are dropped."""
    along = {other.task_id: ids[other.pk] for other in tasks if other.episode_id == task.episode_id}
    known = {other.task_id for other in there.tasks}
    kept = []
    for need in line.spec.depends_on:
        if need.task_id in along:
            kept.append(need.model_copy(update={"task_id": along[need.task_id]}))
        elif need.task_id in known and task.position is not None:
            kept.append(need)
            line.words.append(f"Builds on the existing “{need.task_id}” there.")
        else:
            line.words.append(f"Does not build on “{need.task_id}” any more, since that task is not copied.")
    intents = tuple(
        intent.model_copy(
            update={
                "recoverable_from": tuple(
                    found.model_copy(update={"ref": along.get(found.ref, found.ref)})
                    if found.kind == "session"
                    else found
                    for found in intent.recoverable_from
                )
            }
        )
        for intent in line.spec.intents
    )
    line.spec = line.spec.model_copy(update={"depends_on": tuple(kept), "intents": intents})


def _bring_script(plan: CopyPlan, line: TaskCopy, here: EpisodeSpec, there: EpisodeSpec, *, theirs: bool) -> None:
    if not line.spec.grader_script:
        return
    script = here.persona.script(line.spec.grader_script)
    path = script_path(here.persona.user_id, line.spec.grader_script)
    if script is None:
        line.words.append(f"Its grader script “{path}” is missing here as well.")
    else:
        taken = {file.path: file.sha256 for file in (*there.persona.scripts, *plan.scripts.values())}
        if taken.get(path, script.sha256) != script.sha256:
            plan.asks.append(path)
            if theirs:
                line.words.append(f"Is graded by the “{path}” that is already there, which is a different script.")
            else:
                path = free_path(path, script, taken)
                line.words.append(f"Its grader script is copied as “{path}”, because the name is taken.")
        elif path not in taken:
            line.words.append(f"Its grader script “{path}” is copied too.")
        if not (theirs and path in plan.asks):
            plan.scripts[path] = script.model_copy(update={"path": path})
    line.spec = line.spec.model_copy(update={"grader_script": f"data/{there.persona.user_id}/{path}"})


def free_path(path: str, script: FileRef, taken: Mapping[str, str]) -> str:
    """A path for the script that no other one has; ``taken``: hashes by path."""
    stem, number = path.removesuffix(".py"), 2
    while taken.get(f"{stem}_{number}.py", script.sha256) != script.sha256:
        number += 1
    return f"{stem}_{number}.py"


def _name_unknown(line: TaskCopy, target: Persona, there: EpisodeSpec, codes: Collection[str]) -> None:
    skills = {skill.name for skill in there.persona.skills}
    for what, names, known in (
        ("tool", line.spec.tools, set(there.persona.tools)),
        ("skill", line.spec.skills, skills),
    ):
        if unknown := [name for name in names if name not in known]:
            word = what if len(unknown) == 1 else f"{what}s"
            line.words.append(f"{target} does not have the {word} {', '.join(f'“{name}”' for name in unknown)}.")
    if line.task.episode.persona.benchmark_id != target.benchmark_id and line.spec.category not in codes:
        line.words.append(f"Loses its category “{line.spec.category}”, which {target.benchmark} does not have.")
        line.spec = line.spec.model_copy(update={"category": ""})


def _in_source(spec: TaskSpec) -> dict[str, str]:
    """Ids that an imported document says itself: the writer keeps what stands there."""
    return {name: getattr(spec, name) for name in ("task_id", "user_id") if name in spec.source}
