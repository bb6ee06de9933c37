"""What a release says of its held-out tasks, and where: nothing of them stands in the published pack."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation.models import HeldOutPack, Release
from evaluation.releases.candidate import ReleaseCandidate
from evaluation.releases.comparison import compare
from evaluation.releases.errata import errata_said, names_of
from evaluation.releases.facts import Said, manifest_of
from evaluation.releases.pins import Pin, parts_of, pins_of
from evaluation.releases.readiness import Blocker
from evaluation.results.selection import frozen_views
from studio.domain.app_data import CLOCK, ClockError, path_of, read_times
from studio.domain.base import JsonDict
from studio.domain.credits import Credits, FileOrigin
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.splits import HELD_BACK, PUBLISHED
from studio.domain.task import TaskSpec
from studio.imports.export import paths_of

TOLD = "held-out-told"
FEWEST_WORDS = 5
SHORTEST_ID = 6
SHORTEST_LINE = 12
"""Of what is searched for: shorter texts and ids stand in many texts by chance."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Cutting:
    """A release while it is cut."""

    candidate: ReleaseCandidate
    pins: Sequence[Pin]
    version: str
    released: str
    """ISO date."""
    notes: str
    exceptions: Sequence[JsonDict]
    earlier: Sequence[Release]
    """The newest first."""

    @cached_property
    def held(self) -> set[tuple[str, str]]:
        """Persona and task of what is held out."""
        return {(row.persona.user_id, row.task_id) for row in self.candidate.of(HELD_BACK).tasks}

    def manifest(self, pack: HeldOutPack | None) -> JsonDict:
        """Of what is published. ``pack``: of the held-out tasks, as it is published by its hash."""
        benchmark, origins = self.candidate.benchmark, self._published_origins
        credits = benchmark.credits.model_copy(update={"file_origins": origins})
        manifest = self._manifest(PUBLISHED, self._exceptions(held=False), self.earlier, credits)
        if results := frozen_views(benchmark):
            manifest["results"] = [self._published_view(view) for view in results] if self.held else results
        if errata := self._errata(held=False):
            manifest["errata"] = errata
        if pack:
            facts = {"tasks": len(self.held), "file": pack.file_name, "sha256": pack.sha256}
            manifest["splits"][Split.HELD_OUT.value] = facts
        return manifest

    def held_out_manifest(self) -> JsonDict:
        before = [release for release in self.earlier if release.pk in self._earlier_packs]
        benchmark = self.candidate.benchmark
        manifest = self._manifest(HELD_BACK, self._exceptions(held=True), before, benchmark.credits)
        if results := frozen_views(benchmark):
            manifest["results"] = results
        if errata := self._errata(held=True):
            manifest["errata"] = errata
        return manifest

    def _manifest(
        self, splits: Sequence[Split], exceptions: Sequence[JsonDict], before: Sequence[Release], credits: Credits
    ) -> JsonDict:
        changes = None
        if before:
            changes = {"notes": self.notes, "tasks": compare(pins_of(before[0]), self.pins, splits)}
        said = Said(self.version, self.released, exceptions, changes, credits.model_dump(mode="json"))
        return manifest_of(self.candidate, self.pins, said, splits)

    @cached_property
    def _earlier_packs(self) -> dict[int, HeldOutPack]:
        """Held-out packs of earlier releases, by the release's key."""
        return HeldOutPack.objects.in_bulk([release.pk for release in self.earlier], field_name="release_id")

    @cached_property
    def _published_origins(self) -> list[FileOrigin]:
        """Of files from elsewhere that the published pack has; all, if nothing is held out."""
        origins = self.candidate.benchmark.credits.file_origins
        if not self.held or not origins:
            return origins
        paths = [path for _, part in parts_of(self.pins, PUBLISHED) for path in paths_of(part)]
        return [origin for origin in origins if any(map(origin.covers, paths))]

    def _exceptions(self, *, held: bool) -> list[JsonDict]:
        """Those of held-out tasks and their files, or the others."""
        published = self._published_origins
        withheld = [each.path for each in self.candidate.benchmark.credits.file_origins if each not in published]

        def is_held(problem: JsonDict) -> bool:
            of_task = (problem["persona"], problem["task"]) in self.held
            return of_task or (not problem["task"] and any(path in problem["message"] for path in withheld))

        return [each for each in self.exceptions if is_held(each["problem"]) == held]

    def _errata(self, *, held: bool) -> list[JsonDict]:
        """Those of tasks that were held out in the release that they are about, or the others."""
        tasks = {pack.manifest["version"]: names_of(pack.manifest) for pack in self._earlier_packs.values()}
        found = errata_said(self.candidate.benchmark)
        return [each for each in found if bool(tasks.get(each["version"], set()) & set(each["tasks"])) == held]

    def _published_view(self, view: Mapping[str, Any]) -> JsonDict:
        """A leaderboard, which is of all tasks, without what is told of those held out alone; of a figure, only what it
        is."""
        personas = {row.persona.user_id for row in self.candidate.of(PUBLISHED).tasks}
        board = [
            {**row, "personas": {name: scores for name, scores in row["personas"].items() if name in personas}}
            for row in view.get("leaderboard", ())
        ]
        pilots = [
            {**pilot, "tasks": [row for row in pilot["tasks"] if (row["persona"], row["task"]) not in self.held]}
            for pilot in view["pilots"]
        ]
        kept = {name: value for name, value in view.items() if name != "figure"}
        return {**kept, "pilots": pilots, **({"leaderboard": board} if board else {})}


def find_told(pins: Sequence[Pin], files: Iterable[tuple[str, bytes]]) -> list[Blocker]:
    """Files of the published pack that say what only held-out tasks say. ``files``: contents by path."""
    tasks = [task for _, part in parts_of(pins, PUBLISHED) for task in _tasks(part)]
    published = "".join(_words(line) for task in tasks for line in _lines(task))
    wanted: dict[str, tuple[str, TaskSpec]] = {}
    clocks: dict[str, tuple[str, list[TaskSpec]]] = {}
    for _, part in parts_of(pins, HELD_BACK):
        held = list(_tasks(part))
        clocks[f"data/{part.persona.user_id}/{path_of(CLOCK)}"] = part.persona.user_id, held
        for task in held:
            said = [_words(line) for line in _lines(task) if _is_long(line)]
            for text in (_words(task.task_id), *said) if len(task.task_id) >= SHORTEST_ID else said:
                if text not in published:
                    wanted.setdefault(text, (part.persona.user_id, task))
    found: dict[tuple[str, str, str], Blocker] = {}
    for path, content in files if clocks else ():
        if path in clocks:
            persona, held = clocks[path]
            timed = _timed(content)
            for task in held:
                if task.task_id in timed:
                    _add(found, path, persona, task)
        told = _words(f"{path} {content.decode('utf-8', 'replace')}".replace("\\n", " "))
        for text, (persona, task) in wanted.items():
            if text in told:
                _add(found, path, persona, task)
    return list(found.values())


def _timed(clock: bytes) -> Collection[str]:
    """Tasks that it names: by their ids, however short."""
    try:
        return read_times(clock).tasks
    except ClockError:
        return ()


def _add(found: dict[tuple[str, str, str], Blocker], path: str, persona: str, task: TaskSpec) -> None:
    message = f"{path} of the published pack tells of “{task.title or task.task_id}”, which is held out."
    found.setdefault((path, persona, task.task_id), Blocker(TOLD, message, persona, task.task_id))


def _tasks(episode: EpisodeSpec) -> Iterator[TaskSpec]:
    yield from episode.tasks
    yield from episode.unplaced


def _lines(task: TaskSpec) -> Iterator[str]:
    texts = [task.title, task.description, task.initial_request, task.reference_workflow]
    texts += [intent.content for intent in task.intents]
    texts += [item.criterion for item in task.checklist]
    for text in texts:
        yield from text.splitlines()


def _is_long(line: str) -> bool:
    """Some scripts have no spaces between words: of other than ASCII, the length counts too."""
    return len(_WORD.findall(line)) >= FEWEST_WORDS or (not line.isascii() and len(line) >= SHORTEST_LINE)


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
