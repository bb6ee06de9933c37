"""Imported tasks marked as already approved: asked for by one owner, confirmed by another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils import timezone

from studio.domain.phrases import count_of, quoted_titles
from studio.drafts.authors import authors_of_newest
from studio.drafts.events import event
from studio.drafts.load import lock_all
from studio.findings.queries import blocking_findings
from studio.findings.refresh import refresh_findings
from studio.models import Benchmark, Event, Import, Review, Revision, Task, TaskState, User
from studio.models.findings import NOT_CHECKED
from studio.models.transactions import atomic_with_retry
from studio.notifications.notify import Kind, notify, notify_of_publication, users_allowed

OPEN = (TaskState.DRAFT, TaskState.CHANGES_REQUESTED, TaskState.IN_REVIEW)


class PublicationError(ValueError):
    """Imported tasks that cannot be marked as approved now; the message says why and what to do."""


def validate_may_publish(benchmark: Benchmark, user: User | None) -> None:
    """Raise PermissionDenied unless the user is an owner."""
    if user is None or user.pk not in users_allowed(benchmark, "manage"):
        raise PermissionDenied(
            f"Only an owner of “{benchmark}” can mark imported tasks as already approved. Import them as drafts, "
            f"or ask an owner."
        )


def request_publication(row: Import, revisions: Collection[Revision], *, by: User) -> None:
    """Ask the other owners to confirm that these versions, just imported, were approved elsewhere."""
    row.publication = Import.Publication.REQUESTED
    row.save(update_fields=["publication"])
    row.revisions.set(revisions)
    how_many = count_of(len(revisions), "task")
    notify_of_publication(
        row,
        users_allowed(row.benchmark, "manage"),
        f"asks you to confirm that {how_many} imported into {row.benchmark} were approved elsewhere.",
        by=by,
    )
    Event.objects.create(
        benchmark=row.benchmark,
        actor=by,
        verb="publication_requested",
        summary=f"Asked another owner to confirm that {how_many} from “{row.name}” were approved elsewhere.",
        data={"import": row.pk},
    )


@dataclass(frozen=True)
class PendingPublication:
    """What a confirmation would do now."""

    tasks: list[Task]
    """Would be approved."""
    changed: list[Task]
    """Were edited, approved or retired since the import, and stay as they are."""
    errors: dict[int, int]
    """Open errors of ``tasks``, by pk."""
    refusal: str
    """Why the user cannot confirm it; empty if they can."""


def pending_publication(row: Import, user: User) -> PendingPublication:
    tasks, changed = _split(row)
    return _pending(row, tasks, changed, user)


@atomic_with_retry
def confirm_publication(pk: int, *, by: User) -> int:
    """Approve the tasks of the request that are still as they were imported; returns how many.

    Raises PermissionDenied for others than owners, and PublicationError for who asked or wrote part of the text, while
    the checks find errors, and if nothing is left to approve.
    """
    row = _lock(pk, by)
    lock_all(row.revisions.values_list("task_id", flat=True))
    tasks, changed = _split(row)
    refresh_findings({task.persona.pk: task.persona for task in tasks}.values())
    pending = _pending(row, tasks, changed, by)
    if pending.refusal:
        raise PublicationError(pending.refusal)
    revisions = {revision.task_id: revision for revision in row.revisions.all()}
    text = (
        f"Approved elsewhere{_in_release(row)}: requested by {row.by} with the import “{row.name}”, confirmed by {by}."
    )
    Review.objects.bulk_create(
        [
            Review(
                revision=revisions[task.pk],
                reviewer=by,
                decision=Review.Decision.APPROVED_ELSEWHERE,
                content=task.content,
                parts=task.parts,
                text=text,
            )
            for task in tasks
        ],
        batch_size=500,
    )
    now = timezone.now()
    for task in tasks:
        task.state, task.approved_content, task.updated_at = TaskState.APPROVED, task.content, now
    Task.objects.bulk_update(tasks, ["state", "approved_content", "updated_at"], batch_size=500)
    events = [event(task, "approved_elsewhere", by=by, summary=text, data={"import": row.pk}) for task in tasks]
    Event.objects.bulk_create(events, batch_size=500)
    confirmed = f"confirmed that {count_of(len(tasks), 'task')} were approved elsewhere"
    _close(row, Import.Publication.CONFIRMED, by, confirmed)
    if tasks:
        notify(
            users_allowed(row.benchmark, "release"),
            Kind.RELEASE_BLOCKED,
            f"{confirmed}. Accept that before the next release.",
            benchmark=row.benchmark,
            address=reverse("evaluation:release_new", args=[row.benchmark.slug]),
            by=by,
        )
    return len(tasks)


@atomic_with_retry
def decline_publication(pk: int, *, by: User) -> None:
    """Leave the tasks to be reviewed here. Whoever asked can withdraw the request in the same way."""
    row = _lock(pk, by)
    _close(row, Import.Publication.DECLINED, by, "declined to mark its tasks as approved elsewhere")


def _in_release(row: Import) -> str:
    pack = row.report.get("pack") if isinstance(row.report, dict) else None
    if not pack:
        return ""
    names = ", ".join(pack["approved_by"][:3]) or "nobody named"
    return f", in release {pack['version']} of {pack['benchmark']} by {names}"


def _lock(pk: int, by: User) -> Import:
    rows = Import.objects.select_for_update(no_key=True, of=("self",)).select_related("benchmark", "by")
    row = rows.defer("upload").get(pk=pk)
    validate_may_publish(row.benchmark, by)
    if row.publication != Import.Publication.REQUESTED:
        raise PublicationError("This request has already been answered.")
    return row


def _split(row: Import) -> tuple[list[Task], list[Task]]:
    """The tasks that are still as they were imported, and the others."""
    versions = dict(row.revisions.values_list("task_id", "number"))
    tasks = (
        Task.objects.filter(pk__in=versions)
        .select_related("persona__benchmark")
        .order_by("persona__position", "position", "task_id")
    )
    as_imported: list[Task] = []
    changed: list[Task] = []
    for task in tasks:
        (as_imported if task.version == versions[task.pk] and task.state in OPEN else changed).append(task)
    return as_imported, changed


def _pending(row: Import, tasks: list[Task], changed: list[Task], user: User) -> PendingPublication:
    errors: dict[int, int] = {}
    blocking = blocking_findings().exclude(rule=NOT_CHECKED)  # the confirmation checks them first
    for key in blocking.filter(task__in=tasks).values_list("task_id", flat=True):
        errors[key] = errors.get(key, 0) + 1
    return PendingPublication(tasks, changed, errors, _refusal(row, tasks, errors, user))


def _refusal(row: Import, tasks: Sequence[Task], errors: Collection[int], user: User) -> str:
    owners = users_allowed(row.benchmark, "manage")
    if user.pk not in owners:
        return "Only an owner can confirm it."
    if user.pk == row.by_id:
        who = "another owner has" if len(owners) > 1 else "a second owner has"
        more = "" if len(owners) > 1 else " Add one under Members."
        return f"You asked for it, so {who} to confirm it.{more}"
    authors = authors_of_newest(tasks)
    if any(user.pk in authors[task.pk] for task in tasks):
        return "You wrote part of these tasks, so another owner has to confirm it."
    if not tasks:
        return "All of these tasks have changed since the import. Review them here, and decline this request."
    if errors:
        names = quoted_titles([task for task in tasks if task.pk in errors], 3)
        return f"The checks find errors in {names}. Fix or dismiss them first; a task that is edited is reviewed here."
    return ""


def _close(row: Import, state: str, by: User, what: str) -> None:
    row.publication, row.publication_by, row.publication_at = state, by, timezone.now()
    row.save(update_fields=["publication", "publication_by", "publication_at"])
    people = {row.by_id} if row.by_id else set()
    notify_of_publication(row, people, f"{what}: “{row.name}” in {row.benchmark}.", by=by)
    Event.objects.create(
        benchmark=row.benchmark,
        actor=by,
        verb=f"publication_{state}",
        summary=f"{what[0].upper()}{what[1:]}: “{row.name}”.",
        data={"import": row.pk},
    )
