"""Words that are no version yet: keeping them, knowing who else is there, and putting two people's work together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils import timezone

from studio.drafts.findings import load_reports, load_texts
from studio.drafts.loading import load_episode, load_task
from studio.drafts.refusing import DraftRefused, StaleDraft
from studio.drafts.saving import canonical, save_task
from studio.models import Revision, Task, User, Waiver, WorkingCopy
from studio.spec.checks import find_problems
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


def check_unsaved(task: Task, spec: TaskSpec, *, texts: Mapping[str, str]) -> list[Finding]:
    """What the checks would say of the task if it were saved so, without what was waived.

    The same rules as for what is stored, in the same episode. ``texts`` are contents, by hash, that are not stored yet.
    """
    persona = task.episode.persona
    episode = load_episode(persona)
    spec = canonical(spec)
    episode = episode.model_copy(
        update={
            name: tuple(spec if one.task_id == task.task_id else one for one in getattr(episode, name))
            for name in ("tasks", "unplaced")
        }
    )
    waived = set(Waiver.objects.filter(task=task).values_list("fingerprint", flat=True))
    found = find_problems(
        episode,
        spec.task_id,
        texts={**load_texts([episode]), **texts},
        plan=persona.benchmark.plan,
        reports=load_reports([episode]),
    )
    return [finding for finding in found if finding.fingerprint not in waived]


def map_evidence(task: Task, spec: TaskSpec) -> EvidenceMap:
    """The task's evidence map if it said ``spec``, against the sessions, files and tools that are there."""
    placed = task.episode.tasks.filter(position__lt=task.position) if task.position else Task.objects.none()
    tools = task.episode.persona.tool_bindings.values_list("name", flat=True)
    return evidence_of(spec, earlier=set(placed.values_list("task_id", flat=True)), tools=set(tools))
