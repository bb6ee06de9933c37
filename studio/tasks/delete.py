"""Deletion of tasks that were never reviewed, run or released. What was can only be retired.

A deleted task goes to a benchmark of its own that has no members. So no list shows it and its id is free again, while
its versions stay: whoever wrote them is still known as an author of every copy and import of its text.
"""

from __future__ import annotations

import datetime as dt
import uuid

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.phrases import quoted_titles
from studio.drafts.contents import refresh_contents
from studio.drafts.events import record
from studio.drafts.load import load_episode, load_task, lock
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import save_tasks
from studio.findings.refresh import refresh_findings
from studio.models import Benchmark, Event, Finding, Import, Notification, Persona, Revision, Task, User
from studio.models.transactions import atomic_with_retry
from studio.tasks.copy_tasks import free_id
from studio.tasks.transitions import WorkflowError

KEPT_DAYS = 30
"""For how long a deleted task can be restored."""


def why_not_deletable(task: Task) -> str:
    """Why the task stays; empty if it can be deleted."""
    versions = Revision.objects.filter(task=task)
    if versions.filter(reviews__isnull=False).exists() or task.events.filter(verb="submitted").exists():
        return "This task was submitted for review, so it can only be retired."
    if versions.filter(sessions__isnull=False).exists():  # rows of a higher layer, as are the next
        return "This task was run in a pilot, a rehearsal or a check, whose results name it. It can only be retired."
    if versions.filter(releases__isnull=False).exists():
        return "This task is in a release, so it can only be retired."
    if Import.objects.filter(publication=Import.Publication.REQUESTED, revisions__task=task).exists():
        return (
            "An owner is asked to confirm that this task was approved elsewhere. It can be deleted once they decline."
        )
    if later := list(Task.objects.filter(persona=task.persona_id, needs__contains=[task.task_id])):
        builds = "builds" if len(later) == 1 else "build"
        return f"{quoted_titles(later, 4)} {builds} on this task. Remove that under Builds on first."
    return ""


@atomic_with_retry
def delete_task(seen: Task, *, by: User) -> Task:
    """``seen``: as it was found for the person. Raises WorkflowError."""
    persona = Persona.objects.select_for_update(no_key=True).get(pk=seen.persona_id)
    task = lock(seen.pk)
    if task.persona_id != persona.pk:
        raise WorkflowError("This task was deleted in the meantime.")
    if why := why_not_deletable(task):
        raise WorkflowError(why)
    old = load_episode(persona)
    summary = f"Deleted “{task}”."
    record(task, "deleted", by=by, summary=summary)
    task.persona, task.position, task.needs = _hidden_persona(task), None, []
    task.save(update_fields=["persona", "position", "needs"])
    save_personas([(persona, old, _without(old, task.task_id))], by=by, note=summary[:300], verb="reordered")
    task.assignments.all().delete()
    Notification.objects.filter(task=task).delete()
    Finding.objects.filter(task=task).delete()
    refresh_findings([persona])
    return task


def ever_in(benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """The tasks of these benchmarks, and those that were deleted from them."""
    gone = Event.objects.filter(benchmark__in=benchmarks, verb="deleted").values("task")
    return Task.objects.filter(Q(persona__benchmark__in=benchmarks) | Q(pk__in=gone)).order_by()


def deleted_tasks(benchmark: Benchmark) -> QuerySet[Event]:
    """The deletions that can be undone, newest first."""
    since = timezone.now() - dt.timedelta(days=KEPT_DAYS)
    newest = Event.objects.filter(task=OuterRef("task"), verb="deleted").order_by("-pk").values("pk")[:1]
    rows = Event.objects.filter(benchmark=benchmark, verb="deleted", at__gte=since, pk=Subquery(newest))
    rows = rows.exclude(task__persona__benchmark=benchmark)
    return rows.select_related("task__persona", "persona", "actor").defer("task__spec", "persona__spec")


@atomic_with_retry
def restore_task(benchmark: Benchmark, task_id: int, *, by: User) -> Task:
    """Bring a deleted task back as a draft outside the episode, under another id if its own is taken. Raises
    WorkflowError."""
    deletions = deleted_tasks(benchmark).filter(task=task_id)
    persona = Persona.objects.select_for_update(no_key=True).filter(pk__in=deletions.values("persona")).first()
    if persona is None or not deletions.exists():  # asked again, now that nobody else can restore it
        raise WorkflowError(f"It is no longer among the tasks deleted in the last {KEPT_DAYS} days.")
    task = lock(task_id)
    hidden, old = task.persona.benchmark, load_episode(persona)
    taken = {other.task_id.casefold() for other in (*old.tasks, *old.unplaced)}
    spec = load_task(task).model_copy(update={"task_id": free_id(task.task_id, taken), "depends_on": ()})
    group = Task.objects.filter(persona=persona, group=spec.group).exclude(group="").first()
    task.split = group.split if group else task.split
    task.save(update_fields=["split"])
    task.persona = persona
    save_tasks([(task, spec)], by=by, note="Restored after it was deleted.")
    task.save(update_fields=["persona"])
    hidden.delete()
    record(task, "undeleted", by=by, summary=f"Restored “{task}”.")
    save_personas([(persona, old, load_episode(persona))], by=by, note=f"Restored “{task}”."[:300], verb="reordered")
    refresh_contents([persona.pk], by=by)
    refresh_findings([persona])
    return task


def _hidden_persona(task: Task) -> Persona:
    benchmark = Benchmark.objects.create(slug=f"deleted-{uuid.uuid4().hex}", name=f"Deleted: {task}"[:200])
    persona = Persona(benchmark=benchmark)
    persona.set_spec(PersonaSpec(user_id=task.persona.user_id))
    persona.save()
    return persona


def _without(episode: EpisodeSpec, task_id: str) -> EpisodeSpec:
    tasks = tuple(task for task in episode.tasks if task.task_id != task_id)
    unplaced = tuple(task for task in episode.unplaced if task.task_id != task_id)
    return episode.model_copy(
        update={
            "tasks": tasks,
            "unplaced": unplaced,
            "groups": tuple(group for group in episode.groups if group.name in {t.group for t in (*tasks, *unplaced)}),
            "splits": {name: split for name, split in episode.splits.items() if name != task_id},
        }
    )
