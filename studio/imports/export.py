"""Export of benchmarks as π-Bench v2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.pack import zipped
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import write_persona
from studio.domain.pibench.artifacts import reference_folder
from studio.domain.task import TaskSpec
from studio.domain.text_origins import Name, TextOrigin, known_origins, origins_file
from studio.drafts.load import load_episode, load_episodes, load_tasks
from studio.models import Benchmark, Blob, Persona, Task, TaskState

PERSONAS_AT_ONCE = 5
"""Held in memory together."""


def origins_of(personas: Iterable[Persona], *, only: Task | None = None) -> dict[str, bytes]:
    """The file that tells which texts of their tasks a model proposed, by path; none if none."""
    found: dict[Name, Sequence[TextOrigin]] = {}
    for persona in personas:
        rows = Task.objects.filter(persona=persona).only("task_id", "persona_id")
        names = {row.pk: row.task_id for row in (rows.filter(pk=only.pk) if only else rows).order_by("task_id")}
        origins = known_origins(load_tasks(names))
        found |= {(persona.user_id, name): origins.get(pk, ()) for pk, name in names.items()}
    return origins_file(found)


def persona_folders(benchmark: Benchmark) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The drafts of one persona after the other: its folder (``data/<persona>``) and path (``data/<persona>/…``) →
    bytes."""
    personas = list(benchmark.personas.order_by("position", "user_id"))
    for start in range(0, len(personas), PERSONAS_AT_ONCE):
        some = personas[start : start + PERSONAS_AT_ONCE]
        episodes = load_episodes(some)
        contents = _contents(episodes.values())
        for persona in some:
            yield f"data/{persona.user_id}", write_persona(episodes[persona.pk], contents)


def episode_files(episodes: Iterable[EpisodeSpec]) -> dict[str, bytes]:
    episodes = list(episodes)
    contents = _contents(episodes)
    files: dict[str, bytes] = {}
    for episode in episodes:
        files |= write_persona(episode, contents)
    return files


def persona_archive(persona: Persona) -> bytes:
    """A zip of its drafts: profile, episode and tasks, as an import takes them."""
    return zipped(episode_files([load_episode(persona)]) | origins_of([persona]))


def task_archive(task: Task) -> bytes:
    """A zip of the task's own folder with its references, at the places that they have in the persona's."""
    whole = load_episode(task.persona)
    without = {"files": (), "scripts": (), "skills": ()}  # their contents need not be read
    alone = whole.model_copy(
        update={
            "persona": whole.persona.model_copy(update=without),
            "tasks": tuple(each for each in whole.tasks if each.task_id == task.task_id),
            "unplaced": tuple(each for each in whole.unplaced if each.task_id == task.task_id),
        }
    )
    files = episode_files([alone])
    root = f"data/{task.persona.user_id}/"
    own = (f"{root}tasks/{task.task_id}/", root + reference_folder(task.task_id))
    return zipped(
        {path: content for path, content in files.items() if path.startswith(own)}
        | origins_of([task.persona], only=task)
    )


def file_paths(benchmark: Benchmark) -> frozenset[str]:
    """Of all files that an export has beside its documents, below ``data/``."""
    paths = set()
    for spec in benchmark.personas.order_by().values_list("spec", flat=True):
        paths |= _persona_paths(PersonaSpec.model_validate(spec))
    rows = Task.objects.filter(persona__benchmark=benchmark).exclude(state=TaskState.RETIRED).order_by()
    for user_id, spec in rows.values_list("persona__user_id", "spec").iterator(chunk_size=200):
        paths |= _task_paths(user_id, TaskSpec.model_validate(spec))
    return frozenset(paths)


def paths_of(episode: EpisodeSpec) -> frozenset[str]:
    """Likewise, of one episode."""
    tasks = (*episode.tasks, *episode.unplaced)
    own = (_task_paths(episode.persona.user_id, task) for task in tasks)
    return frozenset().union(_persona_paths(episode.persona), *own)


def _persona_paths(persona: PersonaSpec) -> set[str]:
    own = {f"{persona.user_id}/{file.path}" for file in (*persona.files, *persona.scripts)}
    return own | {
        f"{persona.user_id}/skills/{skill.name}/{file.path}" for skill in persona.skills for file in skill.files
    }


def _task_paths(user_id: str, task: TaskSpec) -> set[str]:
    own = {f"{user_id}/tasks/{task.task_id}/{file.path}" for file in task.assets}
    return own | {f"{user_id}/{reference_folder(task.task_id)}{file.path}" for file in task.references}


def _contents(episodes: Iterable[EpisodeSpec]) -> dict[str, bytes]:
    return Blob.objects.read([ref.sha256 for episode in episodes for ref in _refs(episode)])


def _refs(episode: EpisodeSpec) -> Iterable[FileRef]:
    yield from episode.persona.files
    yield from episode.persona.scripts
    for skill in episode.persona.skills:
        yield from skill.files
    for task in (*episode.tasks, *episode.unplaced):
        yield from task.assets
        yield from task.references
