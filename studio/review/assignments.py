"""Assignments of authors and reviewers to tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Q

from studio.access import ALLOWED
from studio.drafts.authors import authors_of_newest
from studio.drafts.events import event
from studio.drafts.load import lock
from studio.models import Assignment, Benchmark, Event, Membership, Task, TaskState, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify
from studio.tasks.transitions import submit

Part = Assignment.Part
REQUIRED_ACTION = {Part.WRITER: "edit", Part.REVIEWER: "review"}


class AssignmentError(ValueError):
    """Nobody was assigned; the message says why."""


@dataclass(frozen=True)
class EligibleMember:
    user: User
    open: int
    """Their tasks in this part that are not approved yet."""


@dataclass
class Assignees:
    """Who is assigned to a task, and who could be, those with the fewest open tasks first."""

    writer: User | None = None
    reviewers: list[User] = field(default_factory=list)
    may_write: list[EligibleMember] = field(default_factory=list)
    may_review: list[EligibleMember] = field(default_factory=list)


def assignees_of(task: Task, *, authors: Iterable[int] = ()) -> Assignees:
    """``authors`` of the newest version cannot review it. Three queries."""
    members = eligible_members(task.persona.benchmark)
    assignees = Assignees(
        may_write=members[Part.WRITER],
        may_review=[member for member in members[Part.REVIEWER] if member.user.pk not in set(authors)],
    )
    for row in task.assignments.select_related("user"):
        if row.part == Part.WRITER:
            assignees.writer = row.user
        else:
            assignees.reviewers.append(row.user)
    return assignees


def approval_obstacle(task: Task, user: User, *, people: Assignees, authors: Iterable[int], reviews: bool) -> str:
    """Why the user, who ``reviews`` here or not, cannot approve the task in review, and what to do; empty if they can,
    or if it is not theirs to approve and somebody else can. ``people``: those of ``assignees_of``."""
    if task.state != TaskState.IN_REVIEW:
        return ""
    parts = []
    if reviews and user.pk in set(authors):
        applied = task.comments.filter(author=user, applied_in__isnull=False).order_by("-applied_in__number")
        number = applied.values_list("applied_in__number", flat=True).first()
        why = f"your suggestion became part of it in version {number}" if number else "you wrote part of this version"
        parts.append(f"You cannot approve it: {why}.")
    if not people.may_review:
        parts.append("Nobody else here can review it. An owner can add a reviewer to the benchmark.")
    elif parts:
        names = [str(one.user) for one in people.may_review[:3]]
        parts.append(f"{' or '.join(names)} can.")
    return " ".join(parts)


def eligible_members(benchmark: Benchmark) -> dict[str, list[EligibleMember]]:
    """Members by the part they may have, those with the fewest open tasks first. Two queries."""
    roles: dict[str, dict[int, User]] = {part: {} for part in Part.values}
    members = Membership.objects.filter(benchmark=benchmark, user__is_active=True).select_related("user")
    for row in members.order_by("user__display_name", "user__username"):
        for part, action in REQUIRED_ACTION.items():
            if row.role in ALLOWED[action]:
                roles[part][row.user_id] = row.user
    counted = Assignment.objects.filter(benchmark=benchmark, open=True).order_by().values_list("user", "part")
    busy = {(user, part): number for user, part, number in counted.annotate(number=Count("pk"))}
    return {
        part: sorted(
            (EligibleMember(user, busy.get((key, part), 0)) for key, user in users.items()), key=lambda c: c.open
        )
        for part, users in roles.items()
    }


def least_busy_reviewer(task: Task, writer: User | None = None) -> User | None:
    ineligible = authors_of_newest([task])[task.pk] | ({writer.pk} if writer else set())
    reviewers = eligible_members(task.persona.benchmark)[Part.REVIEWER]
    return next((reviewer.user for reviewer in reviewers if reviewer.user.pk not in ineligible), None)


@atomic_with_retry
def set_assignees(task_id: int, *, by: User, writer: User | None, reviewers: Sequence[User]) -> None:
    """Assign exactly these users. Raises AssignmentError for users without the role or in both parts, and for reviewers
    who wrote part of the newest version."""
    task = lock(task_id)
    members = eligible_members(task.persona.benchmark)
    if writer:
        if writer in reviewers:
            raise AssignmentError(f"{writer} cannot be both author and reviewer of the same task.")
        validate_eligible(writer, Part.WRITER, members)
    earlier = set(task.assignments.filter(part=Part.REVIEWER).values_list("user", flat=True))
    authors = authors_of_newest([task])[task.pk]
    for reviewer in reviewers:
        validate_eligible(reviewer, Part.REVIEWER, members)
        if reviewer.pk in authors and reviewer.pk not in earlier:
            raise AssignmentError(f"{reviewer} wrote part of this version, so someone else has to review it.")
    wanted = {Part.WRITER: {writer.pk} if writer else set(), Part.REVIEWER: {reviewer.pk for reviewer in reviewers}}
    # Parts are cleared before they are assigned, so that a user may change from one to the other.
    for part in sorted(Part.values, key=lambda part: bool(wanted[Part(part)])):
        replace_assignees([task], part, {task.pk: wanted[Part(part)]}, by=by)


@atomic_with_retry
def submit_to(reviewer: User, task_id: int, *, by: User, text: str = "") -> Task:
    """Submit the task with this reviewer instead of those assigned. Raises AssignmentError and WorkflowError."""
    writer = User.objects.filter(assignments__task=task_id, assignments__part=Part.WRITER).first()
    set_assignees(task_id, by=by, writer=writer, reviewers=[reviewer])
    return submit(task_id, by=by, text=text)


def validate_eligible(user: User, part: str, members: Mapping[str, Sequence[EligibleMember]]) -> None:
    if user.pk not in {member.user.pk for member in members[part]}:
        action = "write" if part == Part.WRITER else "review"
        raise AssignmentError(f"{user} is not allowed to {action} tasks here. An owner can add the role.")


def replace_assignees(tasks: Sequence[Task], part: str, wanted: Mapping[int, set[int]], *, by: User) -> None:
    """Replace the assignments of tasks, given by task key, each with an event and a notification. The number of queries
    is constant. Tasks are locked and come with their persona; the users are already validated."""
    rows = Assignment.objects.filter(task__in=tasks)
    stored = {(row.task_id, row.user_id): row for row in rows}
    earlier = {
        task.pk: {user for (key, user), row in stored.items() if key == task.pk and row.part == part} for task in tasks
    }
    obsolete = Q()
    for task in tasks:
        if removed := earlier[task.pk] - wanted[task.pk]:
            obsolete |= Q(task=task, user__in=removed)
    new = [(task, user) for task in tasks for user in sorted(wanted[task.pk] - earlier[task.pk])]
    for task, user in new:
        if (task.pk, user) in stored:  # they have the other part
            obsolete |= Q(task=task, user=user)
    if obsolete:
        rows.filter(obsolete).delete()
    Assignment.objects.bulk_create(
        [Assignment(task=task, user_id=user, part=part, by=by) for task, user in new], batch_size=500
    )
    changed = [task for task in tasks if earlier[task.pk] != wanted[task.pk]]
    _record_and_notify(changed, new, part, wanted, by)


def _record_and_notify(
    changed: Sequence[Task], new: Sequence[tuple[Task, int]], part: str, wanted: Mapping[int, set[int]], by: User
) -> None:
    if not changed:
        return
    people = User.objects.in_bulk({user for task in changed for user in wanted[task.pk]})
    verb = "writes" if part == Part.WRITER else "reviews"
    events = []
    for task in changed:
        names = " and ".join(sorted(str(people[user]) for user in wanted[task.pk]))
        plural = len(wanted[task.pk]) > 1
        summary = f"{names} {verb.removesuffix('s') if plural else verb} it." if names else f"Nobody {verb} it."
        events.append(event(task, "assigned", by=by, summary=summary, data={"part": part}))
    Event.objects.bulk_create(events, batch_size=500)
    action = "to write" if part == Part.WRITER else "to review"
    messages = [notify.about(task, {user}, f"asks you {action} “{task}”.") for task, user in new]
    notify.notify_many(messages, notify.Kind.ASSIGNED, by=by)
