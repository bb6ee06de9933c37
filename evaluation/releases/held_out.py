"""What a release says of its held-out tasks, and where: nothing of them stands in the published pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation.models import HeldOutPack, Release
from evaluation.releases.candidate import ReleaseCandidate
from evaluation.releases.comparison import compare
from evaluation.releases.errata import errata_said, names_of
from evaluation.releases.facts import Said, manifest_of
from evaluation.releases.pins import Pin, parts_of, pins_of
from evaluation.results.selection import frozen_views
from studio.domain.base import JsonDict
from studio.domain.credits import Credits, FileOrigin
from studio.domain.episode import Split
from studio.domain.splits import HELD_BACK, PUBLISHED
from studio.imports.export import paths_of


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
