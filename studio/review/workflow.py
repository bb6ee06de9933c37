"""The way of a draft to an approved revision: submitted, read by someone else, approved or sent back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from studio.findings.refresh import refresh_findings
from studio.models import Event, Finding, Review, Revision, SetAside, Task, TaskState, User
from studio.notifications import notify
from studio.reports import counts
from studio.review.checklist import POINTS, Point, Points, in_words, stored

OPEN = (TaskState.DRAFT, TaskState.CHANGES_REQUESTED)


class PublishingRefused(ValueError):
    """A step that cannot be taken now. The text is what the person reads: why, and what to do."""


@dataclass(frozen=True)
class Step:
    """A step that a task's people take by themselves: one task or many of a benchmark, at the same cost."""

    to: TaskState
    verb: str
    refuses: Callable[[Task], str]
    """Why it cannot be taken with this task now; empty if it can."""


STEPS = {
    "submit": Step(
        TaskState.IN_REVIEW,
        "submitted",
        lambda task: "" if task.state in OPEN else f"{_is(task)}: only a draft can be submitted for review.",
    ),
    "withdraw": Step(
        TaskState.DRAFT,
        "withdrawn",
        lambda task: "" if task.state == TaskState.IN_REVIEW else f"{_is(task)}: there is no review to withdraw from.",
    ),
    "retire": Step(
        TaskState.RETIRED,
        "retired",
        lambda task: (
            f"{_is(task)} already."
            if task.state == TaskState.RETIRED
            else "This task has a place in the episode. Take it out there first."
            if task.position is not None
            else ""
        ),
    ),
    "reopen": Step(
        TaskState.DRAFT,
        "reopened",
        lambda task: "" if task.state == TaskState.RETIRED else f"{_is(task)}, not retired.",
    ),
}


@transaction.atomic
def take(name: str, tasks: Sequence[Task], *, by: User, text: str = "") -> None:
    """Take one of the ``STEPS`` with each of these tasks, which come locked and with their benchmark. All or none:
    raises PublishingRefused. ``text`` is told in place of the version."""
    step = STEPS[name]
    for task in tasks:
        if refusal := step.refuses(task):
            raise PublishingRefused(refusal)
    now = timezone.now()
    for task in tasks:
        task.state, task.updated_at = step.to, now
    Task.objects.bulk_update(tasks, ["state", "updated_at"], batch_size=500)
    lines = [event(task, step.verb, by=by, summary=storable(text) or f"Version {task.version}.") for task in tasks]
    Event.objects.bulk_create(lines, batch_size=500)
    if name == "submit":
        notify.tell_of_submissions(tasks, authors_of_newest(tasks), by=by)


def submit(task_id: int, *, by: User, text: str = "") -> Task:
    """Ask for a review of the task as it stands."""
    return _take("submit", task_id, by=by, text=text)


def withdraw(task_id: int, *, by: User) -> Task:
    """Take a submitted task back to the desk."""
    return _take("withdraw", task_id, by=by)


def retire(task_id: int, *, by: User) -> Task:
    """Put away a task that has no place in the episode any more. Its versions and what was measured on it stay."""
    return _take("retire", task_id, by=by)


def reopen(task_id: int, *, by: User) -> Task:
    """Make a retired task a draft again."""
    return _take("reopen", task_id, by=by)


@transaction.atomic
def _take(name: str, task_id: int, *, by: User, text: str = "") -> Task:
    task = lock(task_id)
    take(name, [task], by=by, text=text)
    return task


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
        raise PublishingRefused(f"This task is {_state(task)}: only a task in review can be approved.")
    revision = _read(task, version)
    if by.pk in authors_of(revision):
        raise PublishingRefused("You wrote part of this version, so someone else has to approve it.")
    refresh_findings([task.episode.persona])
    if errors := counts.open_findings().filter(task=task, severity="error").count():
        what = "an error" if errors == 1 else f"{errors} errors"
        raise PublishingRefused(f"The checks find {what}. Ask for changes, or mend it first.")
    if revision.reviews.filter(reviewer=by, decision=Review.Decision.APPROVED).exists():
        raise PublishingRefused("You have approved this version already; someone else's yes is missing.")
    gone_through = _gone_through(task, points)
    Review.objects.create(
        revision=revision, reviewer=by, decision=Review.Decision.APPROVED, text=storable(text), points=gone_through
    )
    given = approvals_of(revision)
    needed = task.episode.persona.benchmark.approvals_needed
    state = TaskState.APPROVED if given >= needed else TaskState.IN_REVIEW
    parts = [
        f"Version {revision.number}" + (f", {given} of {needed}." if needed > 1 else "."),
        _aside(task),
        storable(text),
    ]
    if not gone_through:
        parts.append("Without the reviewer's list.")
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
        raise PublishingRefused(f"This task is {_state(task)}: changes are asked for during a review.")
    marked = {key: Point(point.so, storable(point.word)) for key, point in (points or {}).items()}
    said = in_words(marked, storable(text))
    if not storable(text) and not any(point.word for point in marked.values() if not point.so):
        raise PublishingRefused("Say what should change, so that the author knows what to do.")
    if task.episode.persona.benchmark.review_by_list and all(point.so for point in marked.values()):
        raise PublishingRefused("Mark which of the four points is not so: this benchmark asks for it.")
    revision = _read(task, version)
    Review.objects.create(
        revision=revision,
        reviewer=by,
        decision=Review.Decision.CHANGES_REQUESTED,
        text=storable(text),
        points=stored(marked),
    )
    moved = _move(task, TaskState.CHANGES_REQUESTED, "changes_requested", by=by, summary=said)
    notify.tell_of_changes(moved, authors_of(revision), said, by=by)
    return moved


@transaction.atomic
def authors_of(revision: Revision) -> set[int]:
    """Who wrote what this revision says: everyone who saved, or whose suggestion was applied, since the one that was
    approved before it. The database asks the same function before it takes an approval."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT authors_of_revision(%s)", [revision.pk])
        return {key for (key,) in cursor.fetchall()}


def authors_of_newest(tasks: Iterable[Task]) -> dict[int, set[int]]:
    """Who wrote the newest version of each, as ``authors_of`` says it, by the task's key. One query."""
    authors: dict[int, set[int]] = {task.pk: set() for task in tasks}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.id, author FROM studio_task t"
            " JOIN studio_revision r ON r.task_id = t.id AND r.number = t.version,"
            " authors_of_revision(r.id) author WHERE t.id = ANY(%s)",
            [list(authors)],
        )
        for task, author in cursor.fetchall():
            authors[task].add(author)
    return authors


def approvals_of(revision: Revision) -> int:
    """How many people said yes to it."""
    return revision.reviews.filter(decision=Review.Decision.APPROVED).values("reviewer").distinct().count()


def _gone_through(task: Task, points: Points | None) -> dict[str, Any]:
    if points is None:
        if task.episode.persona.benchmark.review_by_list:
            raise PublishingRefused("This benchmark asks reviewers to go through the four points of the list first.")
        return {}
    if missing := [POINTS[key].label.lower() for key in POINTS if key not in points or not points[key].so]:
        raise PublishingRefused(
            f"Not ticked yet: {', '.join(missing)}. Tick all four points, or ask for changes and say which is not so."
        )
    return stored(points)


def _aside(task: Task) -> str:
    """What an approval says of errors that an owner set aside."""
    standing = Finding.objects.filter(task=task, severity="error").values("fingerprint")
    count = SetAside.objects.filter(task=task, fingerprint__in=standing).count()
    return f"{count} error{'s' if count > 1 else ''} set aside." if count else ""


def lock(task_id: int) -> Task:
    return _lockable().get(pk=task_id)


def lock_all(task_ids: Iterable[int]) -> list[Task]:
    return list(_lockable().filter(pk__in=task_ids).order_by("pk"))


def _lockable() -> QuerySet[Task]:
    return Task.objects.select_for_update(of=("self",)).select_related("episode__persona__benchmark")


def _read(task: Task, version: int | None) -> Revision:
    if version is not None and version != task.version:
        raise PublishingRefused(
            f"It was saved again while you read: this is version {task.version} now, you read {version}. Read it again."
        )
    return task.revisions.get(number=task.version)


def _move(task: Task, state: str, verb: str, *, by: User, summary: str) -> Task:
    task.state = state
    task.save(update_fields=["state", "updated_at"])
    record(task, verb, by=by, summary=storable(summary))
    return task


def storable(text: str) -> str:
    """Without NUL, which PostgreSQL cannot hold, and without white space around it."""
    return text.replace("\0", "").strip()


def record(task: Task, verb: str, *, by: User, summary: str, data: Mapping[str, Any] | None = None) -> None:
    """A line of the task's history."""
    event(task, verb, by=by, summary=summary, data=data).save()


def event(task: Task, verb: str, *, by: User, summary: str, data: Mapping[str, Any] | None = None) -> Event:
    """The line of history, not stored yet."""
    persona = task.episode.persona
    return Event(
        benchmark_id=persona.benchmark_id,
        persona=persona,
        task=task,
        actor=by,
        verb=verb,
        summary=summary,
        data={"version": task.version, **(data or {})},
    )


def _state(task: Task) -> str:
    return str(TaskState(task.state).label).lower()


def _is(task: Task) -> str:
    return f"This task is {_state(task)}"
