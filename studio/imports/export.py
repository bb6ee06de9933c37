"""Export of benchmarks as π-Bench v2."""

from __future__ import annotations

from collections.abc import Iterable

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.pibench import write_persona
from studio.drafts.load import load_episodes
from studio.models import Benchmark, Blob


def benchmark_files(benchmark: Benchmark) -> dict[str, bytes]:
    """The drafts of every persona: path (``data/<persona>/…``) → bytes."""
    personas = list(benchmark.personas.order_by("position", "user_id"))
    episodes = load_episodes(personas)
    return episode_files(episodes[persona.pk] for persona in personas)


def episode_files(episodes: Iterable[EpisodeSpec]) -> dict[str, bytes]:
    episodes = list(episodes)
    contents = Blob.objects.read([ref.sha256 for episode in episodes for ref in _refs(episode)])
    files: dict[str, bytes] = {}
    for episode in episodes:
        files |= write_persona(episode, contents)
    return files


def _refs(episode: EpisodeSpec) -> Iterable[FileRef]:
    yield from episode.persona.files
    yield from episode.persona.scripts
    for skill in episode.persona.skills:
        yield from skill.files
    for task in (*episode.tasks, *episode.unplaced):
        yield from task.assets
        yield from task.references
