"""What a release froze: revisions, from which its episodes are read again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from django.db.models import F, QuerySet

from evaluation.models import HeldOutPack, ReferenceSolution, Release
from evaluation.protocol.given import GivenTurn
from studio.domain.base import JsonDict
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.splits import part_of
from studio.drafts.load import frozen_episode
from studio.models import Benchmark, PersonaRevision, Revision, TaskState


class Pin(NamedTuple):
    """A persona and its tasks."""

    persona: int
    """Key of the PersonaRevision."""
    tasks: Sequence[int]
    """Keys of the Revisions."""
    row: int
    """Key of the Persona."""
    solutions: Mapping[int, int] = MappingProxyType({})
    """Keys of the ReferenceSolutions that its packs have, by key of the Revision."""

    def load(self) -> EpisodeSpec:
        revision = PersonaRevision.objects.get(pk=self.persona)
        return frozen_episode(revision, Revision.objects.filter(pk__in=self.tasks))

    def load_solutions(self) -> dict[str, GivenTurn]:
        """By task id, as it is in the revision."""
        rows = ReferenceSolution.objects.in_bulk(self.solutions.values())
        ids = dict(Revision.objects.filter(pk__in=self.solutions).values_list("pk", "spec__task_id"))
        return {ids[revision]: rows[solution].turn for revision, solution in self.solutions.items()}


def parts_of(pins: Sequence[Pin], splits: Collection[Split]) -> Iterator[tuple[int, EpisodeSpec]]:
    """The part of each that is of these splits, with the key of its PersonaRevision; personas without one are left
    out. One is in memory at a time."""
    for pin in pins:
        if part := part_of(pin.load(), splits):
            yield pin.persona, part


def pins_of(release: Release) -> list[Pin]:
    """In the order in which it was cut."""
    frozen = list(release.personas.order_by("pk").values_list("revision", "revision__persona"))
    tasks: dict[int, dict[int, int | None]] = {persona: {} for _, persona in frozen}
    rows = release.tasks.order_by("pk").values_list("revision", "solution", "revision__task__persona")
    for revision, solution, persona in rows:
        tasks[persona][revision] = solution
    return [_pin(revision, tasks[persona], persona) for revision, persona in frozen]


def newest_pins(benchmark: Benchmark) -> list[Pin]:
    """What a release would freeze now: every persona, and its tasks that are not retired, with their newest reference
    solutions."""
    personas = PersonaRevision.objects.filter(persona__benchmark=benchmark, number=F("persona__version"))
    found = dict(personas.order_by("persona__position", "persona__user_id").values_list("persona", "pk"))
    tasks: dict[int, dict[int, int | None]] = {persona: {} for persona in found}
    solutions = ReferenceSolution.objects.filter(task__persona__benchmark=benchmark).order_by("task", "-pk")
    newest_solutions = dict(solutions.distinct("task").values_list("task", "pk"))
    newest = Revision.objects.filter(task__persona__benchmark=benchmark, number=F("task__version"))
    released = newest.exclude(task__state=TaskState.RETIRED).order_by("task__position", "task__task_id")
    for persona, task, revision in released.values_list("task__persona", "task", "pk"):
        tasks[persona][revision] = newest_solutions.get(task)
    return [_pin(found[persona], revisions, persona) for persona, revisions in tasks.items()]


def _pin(persona: int, tasks: Mapping[int, int | None], row: int) -> Pin:
    """``tasks``: keys of solutions, by key of the revision."""
    return Pin(persona, list(tasks), row, {revision: solution for revision, solution in tasks.items() if solution})


def held_out_manifests(releases: Sequence[Release]) -> list[JsonDict]:
    """Of their held-out packs, in the same order."""
    rows = dict(HeldOutPack.objects.filter(release__in=releases).values_list("release", "manifest"))
    return [rows[release.pk] for release in releases if release.pk in rows]


def earlier_releases(release: Release) -> QuerySet[Release]:
    """Of the same benchmark, the newest first."""
    return release.benchmark.releases.filter(pk__lt=release.pk).order_by("-pk")
