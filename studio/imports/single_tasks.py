"""Folders of tasks alone, without their persona's: they are read with the persona that is here."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from studio.domain.episode import EpisodeSpec
from studio.domain.pibench.reader import is_system_file
from studio.domain.problems import Problem
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episodes
from studio.imports.export import episode_files
from studio.models import Benchmark

_TASK = re.compile(r"(?P<root>(?:.*/)?(?P<persona>[^/]+)/)tasks/(?P<task>[^/]+)/task\.yaml")
_OF_TASK = re.compile(r"(?:tasks|references)/(?P<task>[^/]+)/.+", re.DOTALL)


@dataclass(frozen=True)
class Completed:
    """An upload, with the files of each known persona of which it has tasks alone."""

    files: dict[str, bytes]
    personas: frozenset[str]
    """Ids of these personas."""
    tasks: Mapping[str, frozenset[str]]
    """Ids of these tasks, by their persona's folder."""
    left_out: list[Problem]
    """What came beside the tasks and is not as it is here."""


def with_personas(benchmark: Benchmark, files: Mapping[str, bytes]) -> Completed:
    """Such an episode has the uploaded tasks and no others, and says nothing of what they build on. A persona in two
    folders is left as it came, to be refused."""
    folders: dict[str, dict[str, list[str]]] = {}
    for match in filter(None, map(_TASK.fullmatch, files)):
        if not {f"{match['root']}profile.yaml", f"{match['root']}episode.yaml"} & files.keys():
            folders.setdefault(match["persona"], {}).setdefault(match["root"], []).append(match["task"])
    single = {persona: next(iter(roots.items())) for persona, roots in folders.items() if len(roots) == 1}
    episodes = load_episodes(benchmark.personas.filter(user_id__in=single), with_tasks=False).values()
    known = {episode.persona.user_id: single[episode.persona.user_id] for episode in episodes}
    stored = {}
    for path, content in episode_files(_with_only(each, known[each.persona.user_id][1]) for each in episodes).items():
        _, persona, below = path.split("/", 2)
        if not below.startswith(("tasks/", "references/")):
            stored[known[persona][0] + below] = content
    tasks = {root: frozenset(names) for root, names in known.values()}
    beside = {path for path in files if not is_system_file(path) and is_beside(path, tasks)}
    left_out = [_left_out(path, path in stored) for path in sorted(beside) if stored.get(path) != files[path]]
    kept = {path: content for path, content in files.items() if path not in beside}
    return Completed({**kept, **stored}, frozenset(known), tasks, left_out)


def _with_only(episode: EpisodeSpec, names: Collection[str]) -> EpisodeSpec:
    tasks = tuple(TaskSpec(task_id=name) for name in sorted(names))
    return episode.model_copy(update={"tasks": tasks, "groups": (), "splits": {}, "source": {}})


def is_beside(path: str, tasks: Mapping[str, Collection[str]]) -> bool:
    """Of a persona with tasks alone, and of none of them. ``tasks``: by the persona's folder."""
    for slash in re.finditer("/", path):
        if (names := tasks.get(path[: slash.end()])) is not None:
            match = _OF_TASK.fullmatch(path, slash.end())
            return match is None or match["task"] not in names
    return False


def _left_out(path: str, is_stored: bool) -> Problem:
    what = "It stays as it is in the studio" if is_stored else "It was left out"
    return Problem(
        file=path,
        message=f"{what}: of a persona without profile.yaml, tasks alone are imported.",
        fix="Import the persona's whole folder, or change this on its page.",
    )
