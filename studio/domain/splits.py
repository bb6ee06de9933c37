"""Splits never cut a dependency group: its tasks are published together, or held out together, with what they reach."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from studio.domain.app_data import CLOCK
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.plan import PlacedTask, shape_of_tasks
from studio.domain.tool_names import tool_domain
from studio.domain.tool_servers import FOLDER as SERVERS
from studio.domain.web_pages import is_web_page


def why_cut(tasks: Iterable[PlacedTask], splits: Mapping[str, Split], names: Mapping[str, str]) -> str:
    """The first dependency group whose tasks are of different splits, as a sentence; empty if there is none.

    ``splits``: by task id; others are public. ``names``: what people call a task, by its id.
    """
    by_id = {task.task_id: task for task in tasks}
    for members in shape_of_tasks(by_id.values()).groups:
        found: dict[Split, str] = {}
        for task_id in members:
            found.setdefault(splits.get(task_id, Split.PUBLIC), task_id)
        if len(found) > 1:
            group = next((f"The group “{by_id[each].group}”" for each in members if by_id[each].group), "A group")
            parts = " and ".join(
                f"“{names.get(task_id, task_id)}” is {split.label}" for split, task_id in found.items()
            )
            return f"{group} would be cut: {parts}. Tasks that build on each other are of one split: set it for all."
    return ""


PUBLISHED = (Split.PUBLIC, Split.VALIDATION)
HELD_BACK = (Split.HELD_OUT,)
"""What stands in a release's pack, and in the pack beside it."""


def part_of(episode: EpisodeSpec, splits: Collection[Split]) -> EpisodeSpec | None:
    """The tasks of these splits, with what of the persona they reach; None if there is none of them.

    What no published task reaches belongs to the held-out part. The clock, the web, the tool servers and the profile
    are reached by all. The documents that it was read from are left out, as they may tell of other tasks.
    """
    own, others = _Reach(episode, splits), _Reach(episode, [split for split in Split if split not in splits])
    if not others.tasks:
        return episode if own.tasks or Split.PUBLIC in splits else None
    if not own.tasks:
        return None
    persona, ids = episode.persona, {task.task_id for task in own.tasks}
    rest = Split.HELD_OUT in splits

    def kept(kind: str, name: str) -> bool:
        return own.has(kind, name) or (rest and not others.has(kind, name))

    named = {task.group for task in own.tasks}
    return EpisodeSpec(
        episode_id=episode.episode_id,
        docker_image_id=episode.docker_image_id,
        persona=persona.model_copy(
            update={
                "scripts": tuple(file for file in persona.scripts if kept("script", file.path)),
                "skills": tuple(skill for skill in persona.skills if kept("skill", skill.name)),
                "files": tuple(file for file in persona.files if kept("file", file.path)),
            }
        ),
        tasks=tuple(task for task in episode.tasks if task.task_id in ids),
        unplaced=tuple(task for task in episode.unplaced if task.task_id in ids),
        groups=tuple(group for group in episode.groups if group.name in named),
        splits={name: split for name, split in episode.splits.items() if name in ids},
    )


class _Reach:
    """What of a persona the tasks of some splits reach."""

    def __init__(self, episode: EpisodeSpec, splits: Collection[Split]) -> None:
        everything = (*episode.tasks, *episode.unplaced)
        self.tasks = [task for task in everything if episode.split_of(task.task_id) in splits]
        persona = episode.persona
        scripts = (persona.script(task.grader_script) for task in self.tasks if task.grader_script)
        self._scripts = {script.path for script in scripts if script}
        self._skills = {name for task in self.tasks for name in task.skills}
        self._all_skills = any(not task.skills for task in self.tasks)
        self._apps = {tool_domain(name) for task in self.tasks for name in task.tools_named}
        rules = [item.rule for task in self.tasks for item in task.checklist if item.rule]
        self._apps |= {rule.app for rule in rules}
        self._all_apps = any(not task.tools for task in self.tasks)
        self._all_apps |= any(rule.kind == "nothing_else_changed" and not rule.app for rule in rules)
        self._app_files = {file.path: app for app, file in persona.app_data.items()}

    def has(self, kind: str, name: str) -> bool:
        """``kind``: script, skill or file, with its name or path."""
        if kind == "script":
            return name in self._scripts
        if kind == "skill":
            return bool(self.tasks) and (self._all_skills or name in self._skills)
        folder, _, below = name.partition("/")
        if folder in ("tasks", "references"):
            return below.partition("/")[0] in {task.task_id for task in self.tasks}
        if app := self._app_files.get(name):
            return bool(self.tasks) and (app == CLOCK or self._all_apps or app in self._apps)
        return bool(self.tasks) and (is_web_page(name) or folder == SERVERS)
