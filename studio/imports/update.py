"""Imported episodes as the next version of stored ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from studio.domain.base import FileRef
from studio.domain.diff import changed_fields
from studio.domain.episode import EpisodeSpec, Split, with_split
from studio.domain.persona import PersonaSpec
from studio.domain.plan import placed_task, shape_of_tasks
from studio.domain.task import TaskSpec
from studio.domain.tool_servers import FOLDER
from studio.domain.uids import preserve_uids
from studio.imports.report import ImportReport


def continue_from(imported: EpisodeSpec, stored: EpisodeSpec, report: ImportReport) -> EpisodeSpec:
    """Intents get their stored ids, tasks missing from the files stay outside the episode with a warning, and a draft
    written here is not changed by its own export. No task becomes more open than it is, and files of some splits leave
    the tasks of others where they are."""
    known = {task.task_id: task for task in (*stored.tasks, *stored.unplaced)}
    names = {task.task_id for task in (*imported.tasks, *imported.unplaced)}
    brought = {imported.split_of(name) for name in names}
    kept = [task for task in stored.tasks if task.task_id not in names and stored.split_of(task.task_id) not in brought]
    missing = [task for name, task in sorted(known.items()) if name not in names and task not in kept]
    for task in missing:
        report.warn(
            f"{imported.persona.user_id}/tasks/{task.task_id}",
            f"“{task.task_id}” is in the studio but not among the files.",
            "It stays as a draft outside the episode; retire it if it is no longer needed.",
        )
    persona, groups = imported.persona, imported.groups
    if kept:
        persona = _with_files_of(stored.persona, persona)
        named = {group.name for group in groups}
        groups = (*groups, *(group for group in stored.groups if group.name not in named))
    splits = _stricter_splits(imported, stored, names)
    for name in sorted(name for name in names if splits[name] != imported.split_of(name)):
        report.warn(
            f"{persona.user_id}/episode.yaml",
            f"“{name}” is {stored.split_of(name).label} here and {imported.split_of(name).label} there.",
            "It stays as it is here; change its split on the episode’s board.",
        )

    def next_version(task: TaskSpec) -> TaskSpec:
        old = known.get(task.task_id)
        if old is None:
            return task
        return _unless_native(preserve_uids(task, old, persona=persona.user_id), old)

    if not stored.persona.profile_source and stored.persona.role_text:
        plain = {"profile_source": {}, "tools_source": stored.persona.tools_source}
        if not changed_fields(persona.model_copy(update=plain), stored.persona):
            persona = stored.persona
    same_order = [task.task_id for task in imported.tasks] == [
        task.task_id for task in stored.tasks if task not in kept
    ]
    native = not stored.source and bool(stored.tasks) and same_order
    return imported.model_copy(
        update={
            "persona": persona,
            "groups": groups,
            "source": {} if native else imported.source,
            "tasks": _with_kept(tuple(map(next_version, imported.tasks)), stored.tasks, kept),
            "splits": with_split(stored.splits, splits),
            "unplaced": (
                *map(next_version, imported.unplaced),
                *(task.model_copy(update={"depends_on": ()}) for task in missing),
            ),
        }
    )


def with_tasks_of(imported: EpisodeSpec, stored: EpisodeSpec) -> EpisodeSpec:
    """``stored`` with the tasks of ``imported``, which came alone: what they build on stays, and new ones have no place
    in the episode yet. No task becomes more open than it is."""
    brought = {task.task_id: task for task in (*imported.tasks, *imported.unplaced)}
    splits = with_split(stored.splits, _stricter_splits(imported, stored, brought))

    def current(task: TaskSpec) -> TaskSpec:
        new = brought.pop(task.task_id, None)
        if new is None:
            return task
        kept = {"depends_on": task.depends_on, "group": task.group}
        new = preserve_uids(new.model_copy(update=kept), task, persona=imported.persona.user_id)
        return _unless_native(new, task)

    tasks, unplaced = (tuple(map(current, rows)) for rows in (stored.tasks, stored.unplaced))
    fresh = (task.model_copy(update={"depends_on": ()}) for task in brought.values())
    return stored.model_copy(update={"tasks": tasks, "unplaced": (*unplaced, *fresh), "splits": splits})


def _stricter_splits(imported: EpisodeSpec, stored: EpisodeSpec, names: Iterable[str]) -> dict[str, Split]:
    return {name: strictest_of((imported.split_of(name), stored.split_of(name))) for name in names}


def _with_files_of(stored: PersonaSpec, imported: PersonaSpec) -> PersonaSpec:
    """Also with the files that ``imported`` has not: those of a split have only what its tasks reach."""

    def both(name: str, identity: str) -> tuple[Any, ...]:
        rows = {getattr(row, identity): row for spec in (stored, imported) for row in getattr(spec, name)}
        return tuple(rows[key] for key in sorted(rows))

    return imported.model_copy(
        update={"files": both("files", "path"), "scripts": both("scripts", "path"), "skills": both("skills", "name")}
    )


def _with_kept(
    imported: tuple[TaskSpec, ...], stored: Sequence[TaskSpec], kept: Sequence[TaskSpec]
) -> tuple[TaskSpec, ...]:
    """Each kept task behind the one that it follows."""
    order = list(imported)
    at = 0
    for task in stored:
        if task in kept:
            order.insert(at, task)
            at += 1
        else:
            at = next((place for place, each in enumerate(order, 1) if each.task_id == task.task_id), at)
    return tuple(order)


def with_whole_groups(episode: EpisodeSpec, report: ImportReport) -> EpisodeSpec:
    """No dependency group is cut: what would be more open than a task of its group becomes as little open, with a
    warning."""
    raised: dict[str, Split] = {}
    for members in shape_of_tasks(map(placed_task, (*episode.tasks, *episode.unplaced))).groups:
        strictest = strictest_of(map(episode.split_of, members))
        raised |= {name: strictest for name in members if episode.split_of(name) != strictest}
    for name, split in raised.items():
        report.warn(
            f"{episode.persona.user_id}/tasks/{name}",
            f"“{name}” becomes {split.label}, as a task of its dependency group is.",
            "Tasks that build on each other are of one split: change it for all on the episode’s board.",
        )
    return episode.model_copy(update={"splits": with_split(episode.splits, raised)}) if raised else episode


def strictest_of(splits: Iterable[Split]) -> Split:
    return max(splits, key=list(Split).index)


def keep_servers(imported: EpisodeSpec, stored: EpisodeSpec, report: ImportReport) -> EpisodeSpec:
    """With the tool servers and their programs as they are stored: only owners decide on them."""

    def are_servers(file: FileRef) -> bool:
        return file.path.partition("/")[0] == FOLDER

    persona = imported.persona
    new, old = ({file.path: file for file in spec.files if are_servers(file)} for spec in (persona, stored.persona))
    changed = sorted(path for path in new.keys() | old.keys() if new.get(path) != old.get(path))
    if not changed:
        return imported
    for path in changed:
        left = "It was left out" if path not in old else "It stays as it is in the studio"
        report.warn(
            f"{persona.user_id}/{path}",
            f"{left}: only an owner of the benchmark can add or change tool servers.",
            "Ask an owner to import these files, or to set up the server on the persona’s page.",
        )
    files = [*(file for file in persona.files if not are_servers(file)), *old.values()]
    files.sort(key=lambda file: file.path)
    return imported.model_copy(update={"persona": persona.model_copy(update={"files": tuple(files)})})


def _unless_native(new: TaskSpec, old: TaskSpec) -> TaskSpec:
    """``old`` if it was written here and ``new`` is merely its export."""
    if old.source:
        return new
    plain = new.model_copy(
        update={
            "source": {},
            "intents": tuple(intent.model_copy(update={"source": {}}) for intent in new.intents),
            "checklist": tuple(item.model_copy(update={"source": {}}) for item in new.checklist),
            "tool_evidence": tuple(entry.model_copy(update={"source": {}}) for entry in new.tool_evidence),
        }
    )
    before = old.model_copy(update={"user_id": new.user_id}) if not old.user_id else old
    return old if not changed_fields(plain, before) else new
