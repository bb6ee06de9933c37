"""Reviews of submitted tasks: approval and requested changes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Count, QuerySet

from studio.domain.phrases import count_of
from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of
from studio.drafts.events import record
from studio.drafts.load import lock
from studio.findings.queries import blocking_findings
from studio.findings.refresh import refresh_findings
from studio.models import Comment, ErrorWaiver, Finding, Review, Revision, Task, TaskState, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify
from studio.review.checklist import QUESTIONS, ReviewAnswer, ReviewAnswers, summarize, to_stored
from studio.tasks.transitions import WorkflowError, state_label


@atomic_with_retry
def approve(
    task_id: int,
    *,
    by: User,
    version: int | None = None,
    content: str = "",
    text: str = "",
    answers: ReviewAnswers | None = None,
    despite_comments: bool = False,
) -> Task:
    """Record one approval of the newest revision with all that its score depends on; the task is approved once it has
    enough. An approval that is outdated is given again in the same way.

    ``version`` and ``content``: what the reviewer read. ``answers``: the review checklist, None if it was skipped.
    Raises WorkflowError for who wrote part of it, while the checks find errors, if it was saved since it was read, and
    if the benchmark requires the checklist and it is incomplete. So are open comments, unless ``despite_comments``.
    """
    task = lock(task_id)
    if task.state != TaskState.IN_REVIEW and not task.outdated:
        raise WorkflowError(f"This task is {state_label(task)}: only a task in review can be approved.")
    revision = _read(task, version)
    if content and content != task.content:
        raise WorkflowError(
            "Its persona, its grader script or a task that it builds on was saved while you were reading. "
            "Read it again."
        )
    if by.pk in authors_of(revision):
        raise WorkflowError(
            "You wrote part of this version, or of what it takes from its persona or from a task that it builds on, so "
            "someone else has to approve it."
        )
    refresh_findings([task.persona])
    if blocking := list(blocking_findings().filter(task=task).values_list("severity", flat=True)):
        raise WorkflowError(f"The checks find {_count(blocking)}. Request changes, or fix it first.")
    if Review.objects.approvals(revision=revision, reviewer=by, content=task.content).exists():
        raise WorkflowError("You have already approved this version; another person's approval is still required.")
    comments = open_threads(task).count()
    if comments and task.state == TaskState.IN_REVIEW and not despite_comments:
        raise WorkflowError(
            f"{count_of(comments, 'comment')} {'is' if comments == 1 else 'are'} open. Resolve them, or say that you "
            "approve all the same."
        )
    checklist = _completed_checklist(task, answers)
    Review.objects.create(
        revision=revision,
        reviewer=by,
        decision=Review.Decision.APPROVED,
        content=task.content,
        parts=task.parts,
        text=storable_text(text),
        answers=checklist,
    )
    given = approvals_of(revision, task.content)
    needed = task.persona.benchmark.approvals_needed
    state = task.state
    if given >= needed:
        task.approved_content = task.content
        state = TaskState.APPROVED if task.state == TaskState.IN_REVIEW else task.state
    parts = [
        f"Version {revision.number}" + (f", {given} of {needed}." if needed > 1 else "."),
        f"{count_of(comments, 'comment')} left open." if comments else "",
        _dismissed_errors(task),
        storable_text(text),
    ]
    if not checklist:
        parts.append("Approved without the review checklist.")
    moved = _move(task, state, "approved", by=by, summary=" ".join(filter(None, parts)))
    if given >= needed:
        notify.notify_of_approval(moved, authors_of(revision), by=by)
        notify.notify_of_last_approval(moved, by=by)
    return moved


@atomic_with_retry
def request_changes(
    task_id: int, *, by: User, text: str = "", version: int | None = None, answers: ReviewAnswers | None = None
) -> Task:
    """Return the task to its author, with ``text``, an unmet question with a note, or open comments of reviewers."""
    task = lock(task_id)
    if task.state not in (TaskState.IN_REVIEW, TaskState.APPROVED):
        raise WorkflowError(f"This task is {state_label(task)}: changes can only be requested during a review.")
    cleaned = {key: ReviewAnswer(answer.met, storable_text(answer.note)) for key, answer in (answers or {}).items()}
    revision = _read(task, version)
    summary = summarize(cleaned, storable_text(text))
    if not storable_text(text) and not any(answer.note for answer in cleaned.values() if not answer.met):
        open_comments = count_open_comments(task, authors_of(revision))
        if not open_comments:
            raise WorkflowError("Say what should change, here or in a comment, so that the author knows what to do.")
        summary = " ".join([summary, f"See {count_of(open_comments, 'open comment')}."]).strip()
    if task.persona.benchmark.review_by_list and all(answer.met for answer in cleaned.values()):
        raise WorkflowError("Answer “No” to at least one of the four questions; this benchmark requires it.")
    Review.objects.create(
        revision=revision,
        reviewer=by,
        decision=Review.Decision.CHANGES_REQUESTED,
        content=task.content,
        parts=task.parts,
        text=storable_text(text),
        answers=to_stored(cleaned),
    )
    moved = _move(task, TaskState.CHANGES_REQUESTED, "changes_requested", by=by, summary=summary)
    notify.notify_of_requested_changes(moved, authors_of(revision), summary, by=by)
    return moved


def count_open_comments(task: Task, authors: Collection[int]) -> int:
    """Open threads that somebody other than the version's authors started."""
    return open_threads(task).exclude(author__in=authors).count()


def open_threads(task: Task) -> QuerySet[Comment]:
    """The comments that begin them."""
    return task.comments.filter(reply_to=None, resolved_at=None, deleted_at=None)


def approvals_of(revision: Revision, content: str) -> int:
    """How many people gave one to this version with this ``Task.content``. The database counts them likewise."""
    given = Review.objects.approvals(revision=revision, content=content)
    people: int = given.aggregate(people=Count("reviewer", distinct=True))["people"]
    return people


def _completed_checklist(task: Task, answers: ReviewAnswers | None) -> dict[str, Any]:
    if answers is None:
        if task.persona.benchmark.review_by_list:
            raise WorkflowError("This benchmark requires the review checklist. Answer its four questions first.")
        return {}
    if missing := [QUESTIONS[key].label.lower() for key in QUESTIONS if key not in answers or not answers[key].met]:
        raise WorkflowError(f"Not answered “Yes”: {', '.join(missing)}. Answer “Yes” to all four, or request changes.")
    return to_stored(answers)


def _count(severities: list[str]) -> str:
    errors = severities.count("error")
    blanks = len(severities) - errors
    parts = [
        "an error" if errors == 1 else f"{errors} errors" if errors else "",
        "a blank to fill in" if blanks == 1 else f"{blanks} blanks to fill in" if blanks else "",
    ]
    return " and ".join(filter(None, parts))


def _dismissed_errors(task: Task) -> str:
    current = Finding.objects.filter(task=task, severity="error").values("fingerprint")
    count = ErrorWaiver.objects.filter(task=task, fingerprint__in=current).count()
    return f"{count_of(count, 'error')} dismissed." if count else ""


def _read(task: Task, version: int | None) -> Revision:
    if version is not None and version != task.version:
        raise WorkflowError(
            f"It was saved while you were reading: it is now at version {task.version}, "
            f"and you read version {version}. Read it again."
        )
    return task.revisions.get(number=task.version)


def _move(task: Task, state: str, verb: str, *, by: User, summary: str) -> Task:
    task.state = state
    task.save(update_fields=["state", "approved_content", "updated_at"])
    record(task, verb, by=by, summary=storable_text(summary))
    return task
