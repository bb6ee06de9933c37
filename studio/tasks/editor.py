"""Tasks while they are written: saving on top of what others saved, and what the checks would say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.db import transaction

from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.evidence_map import EvidenceMap, build_evidence_map
from studio.domain.findings import Finding
from studio.domain.merge import FieldPath
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode, load_task, load_tasks
from studio.drafts.rebase import ConflictError, put_on_top
from studio.drafts.save_tasks import canonical
from studio.findings.refresh import load_reports, load_texts, tools_told
from studio.models import Persona, Revision, Task, User
from studio.tasks.save import save_task


@dataclass
class TaskVersions:
    task: Task
    _read: dict[int, TaskSpec] = field(default_factory=dict)
    """By number: a page is read against the version it is on top of, and put on top of the newest, often the same."""

    @property
    def newest(self) -> int:
        return self.task.version

    def at(self, number: int) -> TaskSpec:
        if number not in self._read:
            self._read[number] = self._at(number)
        return self._read[number]

    def _at(self, number: int) -> TaskSpec:
        if number == self.task.version:
            return load_task(self.task)
        revision = Revision.objects.filter(task=self.task, number=number).first()
        return TaskSpec.model_validate(revision.spec) if revision else load_task(self.task)

    def since(self, number: int) -> Iterator[tuple[int | None, TaskSpec]]:
        for row in self.task.revisions.filter(number__gt=number).order_by("number").iterator():
            yield row.created_by_id, TaskSpec.model_validate(row.spec)


def spec_at(task: Task, version: int) -> TaskSpec:
    """The task as it was at a version; as it is now, where there is none of that number."""
    return TaskVersions(task).at(version)


@transaction.atomic
def save_on_top(
    task_id: int,
    spec: TaskSpec,
    *,
    by: User,
    base_version: int,
    note: str = "",
    undecided: Sequence[FieldPath] = (),
) -> Revision:
    """Save what somebody wrote on top of ``base_version``, together with what others saved since.

    Raises ConflictError where they changed the same place, or have been shown that they did and chose nothing;
    DraftError for what cannot be stored.
    """
    row = Task.objects.select_for_update(of=("self",)).select_related("group").get(pk=task_id)
    both = put_on_top(
        TaskVersions(row), canonical(spec), base_version=base_version, by=by, undecided=undecided
    )  # fmt: skip
    if both.undecided:
        raise ConflictError(both)
    return save_task(row.pk, both.spec, by=by, note=note, base_version=row.version)


def spec_shown(task: Task, version: int) -> TaskSpec:
    """As ``spec_at``, for what is only looked at: the newest version is read again when it has changed."""
    if version != task.version:
        return spec_at(task, version)
    group = task.group.name if task.group else None
    return _tasks(((task.pk, task.version, task.updated_at, task.task_id, task.position, group),))[task.pk]


def check_unsaved(
    task: Task, spec: TaskSpec, *, texts: Mapping[str, str] | None = None, episode: EpisodeSpec | None = None
) -> list[Finding]:
    """What the checks would say of the task if it were saved so: the same rules as for what is stored, in the same
    episode. ``texts`` are contents, by hash, that are not stored yet; ``episode`` is the one with the task, where it
    is at hand."""
    episode = episode or episode_with(task, spec)
    return find_problems(
        episode,
        spec.task_id,
        texts={**load_texts([episode]), **(texts or {})},
        plan=task.episode.persona.benchmark.plan,
        reports=load_reports([episode]),
        tools=tools_told([episode]),
    )


def episode_with(task: Task, spec: TaskSpec) -> EpisodeSpec:
    """The task's episode if the task were saved so."""
    episode = _episode(task.episode.persona)
    spec = canonical(spec)
    return episode.model_copy(
        update={
            name: tuple(spec if one.task_id == task.task_id else one for one in getattr(episode, name))
            for name in ("tasks", "unplaced")
        }
    )


def _episode(persona: Persona) -> EpisodeSpec:
    """The persona's episode, whose tasks are read again only when one of them has changed."""
    rows = Task.objects.filter(episode__persona=persona).order_by("episode", "position", "task_id")
    key = tuple(rows.values_list("pk", "version", "updated_at", "task_id", "position", "group__name"))
    tasks = _tasks(key)
    bare = load_episode(persona, with_tasks=False)
    return bare.model_copy(
        update={
            "tasks": tuple(tasks[row[0]] for row in key if row[4] is not None),
            "unplaced": tuple(tasks[row[0]] for row in sorted(key, key=lambda row: row[3]) if row[4] is None),
        }
    )


@lru_cache(maxsize=32)
def _tasks(key: tuple[tuple[Any, ...], ...]) -> dict[int, TaskSpec]:
    """What these tasks say. The key names their versions and whatever else of them changes without a version."""
    return load_tasks(Task.objects.filter(pk__in=[row[0] for row in key]).select_related("group"))


def map_evidence(task: Task, spec: TaskSpec) -> EvidenceMap:
    """The task's evidence map if it said ``spec``, against the sessions, files and tools that are there."""
    placed = task.episode.tasks.filter(position__lt=task.position) if task.position else Task.objects.none()
    tools = task.episode.persona.tool_bindings.values_list("name", flat=True)
    return build_evidence_map(spec, earlier=set(placed.values_list("task_id", flat=True)), tools=set(tools))
