"""The way of a draft to an approved revision: submitted, read by someone else, approved or sent back."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from studio import drafts, notifying
from studio.models import Comment, Event, Finding, Review, Revision, Task, TaskState, User, Waiver

OPEN = (TaskState.DRAFT, TaskState.CHANGES_REQUESTED)


class PublishingRefused(ValueError):
    """A step that cannot be taken now. The text is what the person reads: why, and what to do."""


@transaction.atomic
def submit(task_id: int, *, by: User, text: str = "") -> Task:
    """Ask for a review of the task as it stands."""
    task = _lock(task_id)
    if task.state not in OPEN:
        raise PublishingRefused(f"This task is {_state(task)}: only a draft can be submitted for review.")
    moved = _move(task, TaskState.IN_REVIEW, "submitted", by=by, summary=text or f"Version {task.version}.")
    notifying.tell_of_submission(moved, authors_of(task.revisions.get(number=task.version)), by=by)
    return moved


@transaction.atomic
def withdraw(task_id: int, *, by: User) -> Task:
    """Take a submitted task back to the desk."""
    task = _lock(task_id)
    if task.state != TaskState.IN_REVIEW:
        raise PublishingRefused(f"This task is {_state(task)}: there is no review to withdraw from.")
    return _move(task, TaskState.DRAFT, "withdrawn", by=by, summary=f"Version {task.version}.")


@transaction.atomic
def approve(task_id: int, *, by: User, version: int | None = None, text: str = "") -> Task:
    """One person's yes to the newest revision; enough of them make the task approved.

    ``version`` is the one the person read. Refused for anyone who wrote it, and while checks find errors.
    """
    task = _lock(task_id)
    if task.state != TaskState.IN_REVIEW:
        raise PublishingRefused(f"This task is {_state(task)}: only a task in review can be approved.")
    revision = _read(task, version)
    if by.pk in authors_of(revision):
        raise PublishingRefused("You wrote part of this version, so someone else has to approve it.")
    drafts.refresh_findings([task.episode.persona])
    if errors := Finding.objects.filter(task=task, severity="error").count():
        what = "an error" if errors == 1 else f"{errors} errors"
        raise PublishingRefused(f"The checks find {what}. Ask for changes, or mend it first.")
    if revision.reviews.filter(reviewer=by, decision=Review.Decision.APPROVED).exists():
        raise PublishingRefused("You have approved this version already; someone else's yes is missing.")
    Review.objects.create(revision=revision, reviewer=by, decision=Review.Decision.APPROVED, text=_storable(text))
    given = approvals_of(revision)
    needed = task.episode.persona.benchmark.approvals_needed
    state = TaskState.APPROVED if given >= needed else TaskState.IN_REVIEW
    summary = (
        f"Version {revision.number}" + (f", {given} of {needed}." if needed > 1 else ".") + (f" {text}" if text else "")
    )
    moved = _move(task, state, "approved", by=by, summary=summary)
    if state == TaskState.APPROVED:
        notifying.tell_of_approval(moved, authors_of(revision), by=by)
    return moved


@transaction.atomic
def request_changes(task_id: int, *, by: User, text: str, version: int | None = None) -> Task:
    """Send the task back with what should change."""
    task = _lock(task_id)
    if task.state not in (TaskState.IN_REVIEW, TaskState.APPROVED):
        raise PublishingRefused(f"This task is {_state(task)}: changes are asked for during a review.")
    if not _storable(text):
        raise PublishingRefused("Say what should change, so that the author knows what to do.")
    revision = _read(task, version)
    Review.objects.create(
        revision=revision, reviewer=by, decision=Review.Decision.CHANGES_REQUESTED, text=_storable(text)
    )
    moved = _move(task, TaskState.CHANGES_REQUESTED, "changes_requested", by=by, summary=text)
    notifying.tell_of_changes(moved, authors_of(revision), _storable(text), by=by)
    return moved


@transaction.atomic
def retire(task_id: int, *, by: User) -> Task:
    """Put away a task that has no place in the episode any more. Its versions and what was measured on it stay."""
    task = _lock(task_id)
    if task.state == TaskState.RETIRED:
        raise PublishingRefused("This task is retired already.")
    if task.position is not None:
        raise PublishingRefused("This task has a place in the episode. Take it out there first.")
    return _move(task, TaskState.RETIRED, "retired", by=by, summary=f"Version {task.version}.")


@transaction.atomic
def reopen(task_id: int, *, by: User) -> Task:
    """Make a retired task a draft again."""
    task = _lock(task_id)
    if task.state != TaskState.RETIRED:
        raise PublishingRefused(f"This task is {_state(task)}, not retired.")
    return _move(task, TaskState.DRAFT, "reopened", by=by, summary=f"Version {task.version}.")


@transaction.atomic
def comment(
    task_id: int, *, by: User, text: str, field: str = "", item_uid: str | None = None, words: str = ""
) -> Comment:
    """A remark on the task, one of its fields or one row of a field."""
    task = Task.objects.select_related("episode__persona__benchmark").get(pk=task_id)
    if not _storable(text):
        raise PublishingRefused("Write something first.")
    remark = Comment.objects.create(
        task=task,
        revision=task.revisions.filter(number=task.version).first(),
        field=field,
        item_uid=item_uid,
        words=words,
        text=_storable(text),
        author=by,
    )
    notifying.tell_of_remark(remark)
    return remark


def resolve(remark: Comment, *, by: User) -> None:
    """Close a remark, or open it again."""
    remark.resolved_at, remark.resolved_by = (None, None) if remark.resolved_at else (timezone.now(), by)
    remark.save(update_fields=["resolved_at", "resolved_by"])


@transaction.atomic
def waive(task_id: int, fingerprint: str, *, by: User, reason: str) -> None:
    """Live with a warning, and say why. Errors cannot be waived."""
    task = _lock(task_id)
    finding = Finding.objects.filter(task=task, fingerprint=fingerprint).first()
    if finding is None:
        raise PublishingRefused("The checks do not say this any more.")
    if finding.severity == "error":
        raise PublishingRefused("An error has to be mended; only warnings and hints can be waived.")
    if not _storable(reason):
        raise PublishingRefused("Say why this may stay: others will ask.")
    Waiver.objects.update_or_create(
        task=task, fingerprint=fingerprint, defaults={"rule": finding.rule, "reason": _storable(reason), "by": by}
    )
    _tell(task, "waived", by=by, summary=f"{finding.message} {_storable(reason)}")


def authors_of(revision: Revision) -> set[int]:
    """Who wrote what this revision says: everyone who saved since the one that was approved before it."""
    earlier = Revision.objects.filter(task=revision.task_id, number__lte=revision.number)
    approved = (
        earlier.filter(number__lt=revision.number)
        .exclude(reviews=None)
        .exclude(reviews__decision=Review.Decision.CHANGES_REQUESTED)
        .order_by("-number")
        .values_list("number", flat=True)
        .first()
    )
    return set(earlier.filter(number__gt=approved or 0).exclude(created_by=None).values_list("created_by", flat=True))


def approvals_of(revision: Revision) -> int:
    """How many people said yes to it."""
    return revision.reviews.filter(decision=Review.Decision.APPROVED).values("reviewer").distinct().count()


def _lock(task_id: int) -> Task:
    return Task.objects.select_for_update(of=("self",)).select_related("episode__persona__benchmark").get(pk=task_id)


def _read(task: Task, version: int | None) -> Revision:
    if version is not None and version != task.version:
        raise PublishingRefused(
            f"It was saved again while you read: this is version {task.version} now, you read {version}. Read it again."
        )
    return task.revisions.get(number=task.version)


def _move(task: Task, state: str, verb: str, *, by: User, summary: str) -> Task:
    task.state = state
    task.save(update_fields=["state", "updated_at"])
    _tell(task, verb, by=by, summary=_storable(summary))
    return task


def _storable(text: str) -> str:
    """Without NUL, which PostgreSQL cannot hold, and without white space around it."""
    return text.replace("\0", "").strip()


def _tell(task: Task, verb: str, *, by: User, summary: str) -> None:
    persona = task.episode.persona
    Event.objects.create(
        benchmark_id=persona.benchmark_id,
        persona=persona,
        task=task,
        actor=by,
        verb=verb,
        summary=summary,
        data={"version": task.version},
    )


def _state(task: Task) -> str:
    return str(TaskState(task.state).label).lower()
