"""Folders of tasks alone, without their persona's: they are read with the persona that is here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from studio.domain.episode import EpisodeSpec
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode
from studio.imports.export import episode_files
from studio.models import Benchmark

_TASK = re.compile(r"(?P<root>(?:.*/)?(?P<persona>[^/]+)/)tasks/(?P<task>[^/]+)/task\.yaml")


def with_personas(benchmark: Benchmark, files: Mapping[str, bytes]) -> tuple[dict[str, bytes], frozenset[str]]:
    """The files, with those of each known persona of which there are tasks alone, and the ids of these personas.

    Such an episode has the uploaded tasks and no others, and says nothing of what they build on.
    """
    tasks: dict[tuple[str, str], list[str]] = {}
    for match in filter(None, map(_TASK.fullmatch, files)):
        if not {f"{match['root']}profile.yaml", f"{match['root']}episode.yaml"} & files.keys():
            tasks.setdefault((match["root"], match["persona"]), []).append(match["task"])
    known = {row.user_id: row for row in benchmark.personas.filter(user_id__in={persona for _, persona in tasks})}
    completed = dict(files)
    for (root, persona), names in tasks.items():
        if persona in known:
            own = f"data/{persona}/"
            export = episode_files([_with_only(load_episode(known[persona]), names)])
            below = {path.removeprefix(own): content for path, content in export.items()}
            completed |= {
                root + path: content
                for path, content in below.items()
                if not path.startswith(("tasks/", "references/")) and root + path not in files
            }
    return completed, frozenset(known)


def _with_only(episode: EpisodeSpec, names: list[str]) -> EpisodeSpec:
    tasks = tuple(TaskSpec(task_id=name) for name in sorted(names))
    return episode.model_copy(update={"tasks": tasks, "unplaced": (), "groups": (), "splits": {}, "source": {}})
