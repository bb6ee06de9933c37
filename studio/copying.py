"""Tasks copied, or moved, into an episode: their own, another persona's, another benchmark's. All or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from studio.drafts.findings import refresh_findings
from studio.drafts.loading import load_episodes, load_tasks
from studio.drafts.personas import save_personas
from studio.drafts.refusing import DraftRefused
from studio.drafts.saving import SETTLED, save_tasks
from studio.models import Event, Persona, Task, TaskState, User
from studio.publishing import retire
from studio.spec.base import FileRef
from studio.spec.episode import EpisodeSpec, Group
from studio.spec.persona import script_path
from studio.spec.task import TaskSpec

MOST = 300
"""Tasks at once."""


class CopyRefused(ValueError):
    """Nothing was copied; the text says why."""


@dataclass
class Line:
    """What becomes of one task."""

    task: Task
    spec: TaskSpec
    """As it will be."""
    words: list[str] = field(default_factory=list)
    """What it loses, or meets, on the way."""
    refusal: str = ""


@dataclass
class Plan:
    target: Persona
    lines: list[Line]
    scripts: dict[str, FileRef] = field(default_factory=dict)
    """Grader scripts that come along, by their path there."""
    asks: list[str] = field(default_factory=list)
    """Scripts of which the target has another of that name."""

    @property
    def refused(self) -> list[Line]:
        return [line for line in self.lines if line.refusal]


def plan_copy(tasks: Sequence[Task], target: Persona, *, moving: bool = False, theirs: bool = False) -> Plan:
    """What a copy would do to each task, in the order they run. ``theirs``: a grader script of the same name that the
    target has already grades the copies; otherwise ours comes along under another name. Raises CopyRefused."""
    if not tasks:
        raise CopyRefused("Choose at least one task.")
    if len(tasks) > MOST:
        raise CopyRefused(f"At most {MOST} tasks are copied at once, and these are {len(tasks)}.")
    tasks = sorted(tasks, key=lambda task: (task.episode_id, task.position is None, task.position or 0, task.pk))
    specs = load_tasks(tasks)
    sources = {task.episode.persona for task in tasks}
    episodes = load_episodes({*sources, target})
    there = episodes[target.pk]
    ids = _new_ids(tasks, there)
    plan = Plan(target, [])
    for task in tasks:
        persona = task.episode.persona
        line = Line(task, specs[task.pk].model_copy(update={"task_id": ids[task.pk], "user_id": target.user_id}))
        if moving:
            line.refusal = _why_not_moved(task, target, tasks, episodes[persona.pk])
        if persona.pk != target.pk:
            _leave_behind(line, task, tasks, ids, there)
            _bring_script(plan, line, episodes[persona.pk], there, theirs=theirs)
            _name_unknown(line, target, there)
        if line.spec.source:
            source = {**line.spec.source, **_in_source(line.spec)}
            line.spec = line.spec.model_copy(update={"source": source})
        plan.lines.append(line)
    return plan


@transaction.atomic
def copy_tasks(
    tasks: Sequence[Task], target: Persona, *, by: User, moving: bool = False, theirs: bool = False
) -> list[Task]:
    """Do it: every task with its files, a first version that says where it comes from. Where they are moved, the
    originals are taken out of their episode and retired. Raises CopyRefused, and then nothing happened."""
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
        raise CopyRefused(" ".join(f"“{line.task}”: {line.refusal}" for line in plan.refused[:3]))
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
            where_from(line.task, row, target, by=by, moving=moving) for row, line in zip(rows, plan.lines, strict=True)
        )
        new = load_episodes([target])[target.pk]
        new = _with_company(new, old, plan)
        note = f"{'Moved' if moving else 'Copied'} {len(rows)} {'task' if len(rows) == 1 else 'tasks'} here."
        save_personas([(target, old, new)], by=by, note=note, verb="edited")
        if moving:
            _retire(plan, by=by)
    except DraftRefused as refusal:
        raise CopyRefused(str(refusal)) from None
    refresh_findings(Persona.objects.filter(pk__in=personas))
    return rows


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
        return "It is in this episode already."
    if task.state in SETTLED:
        return "It is in review, approved or released: it can be copied, not moved."
    moved = {other.task_id for other in tasks if other.episode_id == task.episode_id}
    for other in (*here.tasks, *here.unplaced):
        if other.task_id not in moved and any(need.task_id == task.task_id for need in other.depends_on):
            return (
                f"“{other.title or other.task_id}” builds on it and stays. Move both, or remove the dependency first."
            )
    return ""


def _leave_behind(line: Line, task: Task, tasks: Sequence[Task], ids: Mapping[int, str], there: EpisodeSpec) -> None:
    """Dependencies on tasks that come along, or are there by the same id, stay; the others are dropped."""
    along = {other.task_id: ids[other.pk] for other in tasks if other.episode_id == task.episode_id}
    known = {other.task_id for other in there.tasks}
    kept = []
    for need in line.spec.depends_on:
        if need.task_id in along:
            kept.append(need.model_copy(update={"task_id": along[need.task_id]}))
        elif need.task_id in known and task.position is not None:
            kept.append(need)
            line.words.append(f"Builds on “{need.task_id}” as it is there.")
        else:
            line.words.append(f"Does not build on “{need.task_id}” any more: it does not come along.")
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


def _bring_script(plan: Plan, line: Line, here: EpisodeSpec, there: EpisodeSpec, *, theirs: bool) -> None:
    if not line.spec.grader_script:
        return
    script = here.persona.script(line.spec.grader_script)
    path = script_path(here.persona.user_id, line.spec.grader_script)
    if script is None:
        line.words.append(f"Its grader script “{path}” is missing here too.")
    else:
        taken = {file.path: file.sha256 for file in (*there.persona.scripts, *plan.scripts.values())}
        if taken.get(path, script.sha256) != script.sha256:
            plan.asks.append(path)
            if theirs:
                line.words.append(f"Is graded by the “{path}” that is there, which is another.")
            else:
                path = free_path(path, script, taken)
                line.words.append(f"Its grader script comes along as “{path}”: there is another of its name.")
        elif path not in taken:
            line.words.append(f"Its grader script “{path}” comes along.")
        if not (theirs and path in plan.asks):
            plan.scripts[path] = script.model_copy(update={"path": path})
    line.spec = line.spec.model_copy(update={"grader_script": f"data/{there.persona.user_id}/{path}"})


def free_path(path: str, script: FileRef, taken: Mapping[str, str]) -> str:
    """A path for the script that no other one has; ``taken``: hashes by path."""
    stem, number = path.removesuffix(".py"), 2
    while taken.get(f"{stem}_{number}.py", script.sha256) != script.sha256:
        number += 1
    return f"{stem}_{number}.py"


def _name_unknown(line: Line, target: Persona, there: EpisodeSpec) -> None:
    skills = {skill.name for skill in there.persona.skills}
    for what, names, known in (
        ("tool", line.spec.tools, set(there.persona.tools)),
        ("skill", line.spec.skills, skills),
    ):
        if unknown := [name for name in names if name not in known]:
            word = what if len(unknown) == 1 else f"{what}s"
            line.words.append(f"{target} does not have the {word} {', '.join(f'“{name}”' for name in unknown)}.")
    codes = target.benchmark.taxonomy.categories.values_list("code", flat=True) if target.benchmark.taxonomy else ()
    if line.task.episode.persona.benchmark_id != target.benchmark_id and line.spec.category not in ("", *codes):
        line.words.append(f"Loses its category “{line.spec.category}”, which {target.benchmark} does not have.")
        line.spec = line.spec.model_copy(update={"category": ""})


def _in_source(spec: TaskSpec) -> dict[str, str]:
    """Ids that an imported document says itself: the writer keeps what stands there."""
    return {name: getattr(spec, name) for name in ("task_id", "user_id") if name in spec.source}


def where_from(task: Task, row: Task, target: Persona, *, by: User, moving: bool = False) -> Event:
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


def _with_company(new: EpisodeSpec, old: EpisodeSpec, plan: Plan) -> EpisodeSpec:
    """The episode with the scripts and what the groups carry over; copies in their own episode after the originals."""
    scripts = {file.path: file for file in (*new.persona.scripts, *plan.scripts.values())}
    persona = new.persona.model_copy(update={"scripts": tuple(scripts[path] for path in sorted(scripts))})
    said = {group.name for group in new.groups}
    words = {
        line.task.group.name: line.task.group.carries_over
        for line in plan.lines
        if line.task.group and line.task.group.carries_over and line.task.group.name not in said
    }
    groups = (*new.groups, *(Group(name=name, carries_over=text) for name, text in words.items()))
    tasks = new.tasks
    own = [line.task.task_id for line in plan.lines if line.task.episode.persona_id == plan.target.pk]
    originals = [place for place, task in enumerate(old.tasks, 1) if task.task_id in own]
    if originals and len(own) == len(plan.lines):
        after = max(originals)
        tasks = (*new.tasks[:after], *new.tasks[len(old.tasks) :], *new.tasks[after : len(old.tasks)])
    return new.model_copy(update={"persona": persona, "groups": groups, "tasks": tasks})


def _retire(plan: Plan, *, by: User) -> None:
    moved: dict[int, list[Line]] = {}
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
        for line in lines:
            if line.task.state != TaskState.RETIRED:
                retire(line.task.pk, by=by)
