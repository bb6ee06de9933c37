"""Words that are no version yet: keeping them, knowing who else is there, and putting two people's work together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.utils import timezone

from studio.drafts.findings import load_reports, load_texts
from studio.drafts.loading import load_episode, load_task, load_tasks
from studio.drafts.refusing import DraftRefused, StaleDraft
from studio.drafts.saving import canonical, save_task
from studio.models import Persona, Revision, Task, User, WorkingCopy
from studio.spec.checks import find_problems
from studio.spec.episode import EpisodeSpec
from studio.spec.evidence import EvidenceMap, evidence_of
from studio.spec.findings import Finding
from studio.spec.merging import Conflict, Merged, merge
from studio.spec.task import TaskSpec

PRESENT_SECONDS = 30
"""How long somebody counts as here after their page last spoke; it speaks every ten seconds."""


class BothChanged(StaleDraft):
    """Two people changed the same place, and the second has to choose."""

    def __init__(self, current: int, theirs: TaskSpec, merged: Merged) -> None:
        super().__init__(current)
        self.theirs = theirs
        self.merged = merged

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        return self.merged.conflicts


def spec_at(task: Task, version: int) -> TaskSpec:
    """The task as it was at a version; as it is now, where there is none of that number."""
    if version == task.version:
        return load_task(task)
    revision = Revision.objects.filter(task=task, number=version).first()
    return TaskSpec.model_validate(revision.spec) if revision else load_task(task)


@transaction.atomic
def save_on_top(task_id: int, spec: TaskSpec, *, by: User, base_version: int, note: str = "") -> Revision:
    """Save what somebody wrote on top of ``base_version``, together with what others saved since.

    Raises BothChanged where they changed the same place, DraftRefused for what cannot be stored.
    """
    row = Task.objects.select_for_update(of=("self",)).select_related("group").get(pk=task_id)
    spec = canonical(spec)
    if base_version != row.version:
        theirs = load_task(row)
        merged = merge(spec_at(row, base_version), theirs, spec)
        if merged.conflicts:
            raise BothChanged(row.version, theirs, merged)
        spec = merged.spec
    return save_task(row.pk, spec, by=by, note=note, base_version=row.version)


def keep_copy(task: Task, user: User, sheet: Mapping[str, Sequence[str]], *, base_version: int) -> WorkingCopy:
    """Keep what a page holds in place of what was kept of it. Raises DraftRefused for what cannot be stored."""
    if any("\0" in value for values in sheet.values() for value in values):
        raise DraftRefused("", "This contains the character U+0000: remove it.")
    now = timezone.now()
    kept, _ = WorkingCopy.objects.update_or_create(
        task=task,
        user=user,
        defaults={
            "seen_at": now,
            "kept_at": now,
            "base_version": base_version,
            "sheet": {name: list(values) for name, values in sheet.items()},
        },
    )
    return kept


def drop_copy(task: Task, user: User) -> None:
    """What was typed is in a version now, or not wanted."""
    WorkingCopy.objects.filter(task=task, user=user).update(sheet=None, kept_at=None)


def copy_of(task: Task, user: User) -> WorkingCopy | None:
    """What this person typed here and made no version of."""
    return WorkingCopy.objects.filter(task=task, user=user, sheet__isnull=False).first()


def be_here(task: Task, user: User) -> None:
    WorkingCopy.objects.update_or_create(task=task, user=user, defaults={"seen_at": timezone.now()})


def others_here(task: Task, user: User) -> list[User]:
    """Who else has the task's page open, the first to come first."""
    since = timezone.now() - dt.timedelta(seconds=PRESENT_SECONDS)
    rows = WorkingCopy.objects.filter(task=task, seen_at__gte=since).exclude(user=user)
    return [row.user for row in rows.select_related("user").order_by("pk")]


def check_unsaved(task: Task, spec: TaskSpec, *, texts: Mapping[str, str] | None = None) -> list[Finding]:
    """What the checks would say of the task if it were saved so: the same rules as for what is stored, in the same
    episode. ``texts`` are contents, by hash, that are not stored yet."""
    episode = episode_with(task, spec)
    return find_problems(
        episode,
        spec.task_id,
        texts={**load_texts([episode]), **(texts or {})},
        plan=task.episode.persona.benchmark.plan,
        reports=load_reports([episode]),
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
    return evidence_of(spec, earlier=set(placed.values_list("task_id", flat=True)), tools=set(tools))
