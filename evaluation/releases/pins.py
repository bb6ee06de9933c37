"""What a release froze: revisions, from which its episodes are read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evaluation.models import Release
from studio.domain.episode import EpisodeSpec
from studio.drafts.load import frozen_episode
from studio.models import PersonaRevision, Revision


class Pin(NamedTuple):
    """A persona and its tasks."""

    persona: int
    """Key of the PersonaRevision."""
    tasks: Sequence[int]
    """Keys of the Revisions."""

    def load(self) -> EpisodeSpec:
        revision = PersonaRevision.objects.get(pk=self.persona)
        return frozen_episode(revision, Revision.objects.filter(pk__in=self.tasks))


def episodes_of(pins: Sequence[Pin]) -> Iterator[EpisodeSpec]:
    """One after the other: only one is held in memory."""
    return (pin.load() for pin in pins)


def pins_of(release: Release) -> list[Pin]:
    """In the order that its manifest lists personas in."""
    places = {row["persona"]: at for at, row in enumerate(release.manifest["statistics"]["personas"])}
    frozen = release.personas.values_list("revision", "revision__persona", "revision__spec__user_id")
    tasks: dict[int, list[int]] = {persona: [] for _, persona, _ in frozen}
    for revision, persona in release.tasks.order_by("pk").values_list("revision", "revision__task__persona"):
        tasks[persona].append(revision)
    return [Pin(revision, tasks[persona]) for revision, persona, _ in sorted(frozen, key=lambda row: places[row[2]])]


def earlier_releases(release: Release) -> list[Release]:
    """Of the same benchmark, the newest first."""
    return list(release.benchmark.releases.filter(pk__lt=release.pk).order_by("-pk"))
