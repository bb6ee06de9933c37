"""Stored findings, so that lists can count them without checking again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from studio.drafts.loading import load_episodes
from studio.drafts.syncing import sync
from studio.models import Blob, Finding, Persona, Task
from studio.spec import findings
from studio.spec.base import FileRef
from studio.spec.checks import find_problems
from studio.spec.episode import EpisodeSpec

LONGEST_TEXT = 60_000
"""Bytes. Longer files are not read for the checks, which look at no more than 40,000 characters of one."""
FIELDS = ["rule", "severity", "field", "item", "words", "message", "mend", "other"]


def check_personas(personas: Iterable[Persona]) -> list[findings.Finding]:
    """What the checks say now of every task of these personas, read from the drafts. Personas come with their
    ``benchmark``, whose plan the checks hold an episode to."""
    personas = list(personas)
    episodes = load_episodes(personas)
    texts = load_texts(episodes.values())
    return [
        finding
        for persona in personas
        for finding in find_problems(episodes[persona.pk], texts=texts, plan=persona.benchmark.plan)
    ]


def load_texts(episodes: Iterable[EpisodeSpec]) -> dict[str, str]:
    """Contents of the small text files that the episodes' tasks and skills bring, by sha256, in one query."""
    wanted = {file.sha256 for episode in episodes for file in _files(episode) if file.size <= LONGEST_TEXT}
    if not wanted:
        return {}
    texts = {}
    for sha256, content in Blob.objects.read(list(wanted)).items():
        try:
            texts[sha256] = content.decode()
        except UnicodeDecodeError:
            continue
    return texts


def _files(episode: EpisodeSpec) -> Iterator[FileRef]:
    for task in (*episode.tasks, *episode.unplaced):
        yield from task.assets
    for skill in episode.persona.skills:
        yield from skill.files


def refresh_findings(personas: Iterable[Persona]) -> None:
    """Check these personas and store what was found in place of what stood there."""
    personas = list(Persona.objects.filter(pk__in=[p.pk for p in personas]).select_related("benchmark"))
    tasks = {
        (persona, task_id): pk
        for pk, persona, task_id in Task.objects.filter(episode__persona__in=personas).values_list(
            "pk", "episode__persona__user_id", "task_id"
        )
    }
    wanted = {}
    for finding in check_personas(personas):
        row = Finding(
            task_id=tasks[(finding.persona, finding.task)],
            fingerprint=finding.fingerprint,
            **{name: getattr(finding, name) for name in FIELDS},
        )
        wanted[_key(row)] = row
    sync(
        Finding.objects.filter(task__in=list(tasks.values())),
        list(wanted.values()),
        key=_key,
        fields=FIELDS,
    )


def _key(row: Finding) -> tuple[int, str, str, int | None]:
    return (row.task_id, row.rule, row.fingerprint, row.item)
