"""The way of a draft to an approved revision: submitted, read by someone else, approved or sent back."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of
from studio.drafts.events import record
from studio.drafts.locks import lock
from studio.findings.queries import open_findings
from studio.findings.refresh import refresh_findings
from studio.models import Finding, Review, Revision, SetAside, Task, TaskState, User
from studio.notifications import notify
from studio.review.checklist import POINTS, Point, Points, in_words, stored
from studio.tasks.transitions import WorkflowError, _state


@transaction.atomic
def approve(
    task_id: int, *, by: User, version: int | None = None, text: str = "", points: Points | None = None
) -> Task:
    """One person's yes to the newest revision; enough of them make the task approved.

    ``version`` is the one the person read, ``points`` the reviewer's list, None if they did not go through it: that is
    recorded, and refused where the benchmark asks for the list. Refused for anyone who wrote it, and while checks find
    errors.
    """
    task = lock(task_id)
    if task.state != TaskState.IN_REVIEW:
        raise WorkflowError(f"This task is {_state(task)}: only a task in review can be approved.")
    revision = _read(task, version)
    if by.pk in authors_of(revision):
        raise WorkflowError("You wrote part of this version, so someone else has to approve it.")
    refresh_findings([task.episode.persona])
    if errors := open_findings().filter(task=task, severity="error").count():
        what = "an error" if errors == 1 else f"{errors} errors"
        raise WorkflowError(f"The checks find {what}. Request changes, or fix it first.")
    if revision.reviews.filter(reviewer=by, decision=Review.Decision.APPROVED).exists():
        raise WorkflowError("You have already approved this version; another person's approval is still required.")
    gone_through = _gone_through(task, points)
    Review.objects.create(
        revision=revision, reviewer=by, decision=Review.Decision.APPROVED, text=storable_text(text), points=gone_through
    )
    given = approvals_of(revision)
    needed = task.episode.persona.benchmark.approvals_needed
    state = TaskState.APPROVED if given >= needed else TaskState.IN_REVIEW
    parts = [
        f"Version {revision.number}" + (f", {given} of {needed}." if needed > 1 else "."),
        _aside(task),
        storable_text(text),
    ]
    if not gone_through:
        parts.append("Approved without the review checklist.")
    moved = _move(task, state, "approved", by=by, summary=" ".join(filter(None, parts)))
    if state == TaskState.APPROVED:
        notify.tell_of_approval(moved, authors_of(revision), by=by)
    return moved


@transaction.atomic
def request_changes(
    task_id: int, *, by: User, text: str = "", version: int | None = None, points: Points | None = None
) -> Task:
    """Send the task back with what should change, and which points of the list are not so."""
    task = lock(task_id)
    if task.state not in (TaskState.IN_REVIEW, TaskState.APPROVED):
        raise WorkflowError(f"This task is {_state(task)}: changes can only be requested during a review.")
    marked = {key: Point(point.so, storable_text(point.word)) for key, point in (points or {}).items()}
    said = in_words(marked, storable_text(text))
    if not storable_text(text) and not any(point.word for point in marked.values() if not point.so):
        raise WorkflowError("Say what should change, so that the author knows what to do.")
    if task.episode.persona.benchmark.review_by_list and all(point.so for point in marked.values()):
        raise WorkflowError("Answer “No” to at least one of the four questions; this benchmark requires it.")
    revision = _read(task, version)
    Review.objects.create(
        revision=revision,
        reviewer=by,
        decision=Review.Decision.CHANGES_REQUESTED,
        text=storable_text(text),
        points=stored(marked),
    )
    moved = _move(task, TaskState.CHANGES_REQUESTED, "changes_requested", by=by, summary=said)
    notify.tell_of_changes(moved, authors_of(revision), said, by=by)
    return moved


def approvals_of(revision: Revision) -> int:
    """How many people said yes to it."""
    return revision.reviews.filter(decision=Review.Decision.APPROVED).values("reviewer").distinct().count()


def _gone_through(task: Task, points: Points | None) -> dict[str, Any]:
    if points is None:
        if task.episode.persona.benchmark.review_by_list:
            raise WorkflowError("This benchmark requires the review checklist. Answer its four questions first.")
        return {}
    if missing := [POINTS[key].label.lower() for key in POINTS if key not in points or not points[key].so]:
        raise WorkflowError(f"Not answered “Yes”: {', '.join(missing)}. Answer “Yes” to all four, or request changes.")
    return stored(points)


def _aside(task: Task) -> str:
    """What an approval says of errors that an owner set aside."""
    standing = Finding.objects.filter(task=task, severity="error").values("fingerprint")
    count = SetAside.objects.filter(task=task, fingerprint__in=standing).count()
    return f"{count} error{'s' if count > 1 else ''} dismissed." if count else ""


def _read(task: Task, version: int | None) -> Revision:
    if version is not None and version != task.version:
        raise WorkflowError(
            f"It was saved while you were reading: it is now at version {task.version}, "
            f"and you read version {version}. Read it again."
        )
    return task.revisions.get(number=task.version)


def _move(task: Task, state: str, verb: str, *, by: User, summary: str) -> Task:
    task.state = state
    task.save(update_fields=["state", "updated_at"])
    record(task, verb, by=by, summary=storable_text(summary))
    return task
