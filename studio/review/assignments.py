"""Assignments of authors and reviewers to tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Count, Q

from studio.access import ALLOWED
from studio.drafts.authors import authors_of_newest
from studio.models import Assignment, Benchmark, Event, Membership, Task, TaskState, User
from studio.notifications import notify

Part = Assignment.Part
RIGHT = {Part.WRITER: "edit", Part.REVIEWER: "review"}
DONE = (TaskState.APPROVED, TaskState.RELEASED, TaskState.RETIRED)


class AssignmentError(ValueError):
    """Nobody was assigned; the message says why."""


@dataclass(frozen=True)
class Candidate:
    user: User
    open: int
    """Tasks they have this part in and that are not approved yet."""


@dataclass
class People:
    """Who is assigned to a task, and who could be, those with the fewest open tasks first."""

    writer: User | None = None
    reviewers: list[User] = field(default_factory=list)
    may_write: list[Candidate] = field(default_factory=list)
    may_review: list[Candidate] = field(default_factory=list)


def people_of(task: Task, *, authors: Iterable[int] = ()) -> People:
    """``authors`` of the newest version cannot review it. Three queries."""
    found = candidates(task.episode.persona.benchmark)
    people = People(
        may_write=found[Part.WRITER],
        may_review=[one for one in found[Part.REVIEWER] if one.user.pk not in set(authors)],
    )
    for row in task.assignments.select_related("user"):
        if row.part == Part.WRITER:
            people.writer = row.user
        else:
            people.reviewers.append(row.user)
    return people


def candidates(benchmark: Benchmark) -> dict[str, list[Candidate]]:
    """Members by the part they may have, those with the fewest open tasks first. Two queries."""
    roles: dict[str, dict[int, User]] = {part: {} for part in Part.values}
    members = Membership.objects.filter(benchmark=benchmark, user__is_active=True).select_related("user")
    for row in members.order_by("user__display_name", "user__username"):
        for part, action in RIGHT.items():
            if row.role in ALLOWED[action]:
                roles[part][row.user_id] = row.user
    rows = Assignment.objects.filter(task__episode__persona__benchmark=benchmark).exclude(task__state__in=DONE)
    counted = rows.values_list("user", "part").annotate(open=Count("pk"))
    busy = {(user, part): number for user, part, number in counted.order_by()}
    return {
        part: sorted((Candidate(user, busy.get((key, part), 0)) for key, user in users.items()), key=lambda c: c.open)
        for part, users in roles.items()
    }


def fewest_open(task: Task, writer: User | None = None) -> User | None:
    """The eligible reviewer with the fewest open reviews."""
    unfit = authors_of_newest([task])[task.pk] | ({writer.pk} if writer else set())
    reviewers = candidates(task.episode.persona.benchmark)[Part.REVIEWER]
    return next((one.user for one in reviewers if one.user.pk not in unfit), None)


@transaction.atomic
def set_people(task_id: int, *, by: User, writer: User | None, reviewers: Sequence[User]) -> None:
    """Assign exactly these users. Raises AssignmentError for users without the role or in both parts, and for reviewers
    who wrote part of the newest version."""
    task = Task.objects.select_for_update(of=("self",)).select_related("episode__persona__benchmark").get(pk=task_id)
    found = candidates(task.episode.persona.benchmark)
    if writer:
        if writer in reviewers:
            raise AssignmentError(f"{writer} cannot be both author and reviewer of the same task.")
        refuse_unfit(writer, Part.WRITER, found)
    had = set(task.assignments.filter(part=Part.REVIEWER).values_list("user", flat=True))
    authors = authors_of_newest([task])[task.pk]
    for reviewer in reviewers:
        refuse_unfit(reviewer, Part.REVIEWER, found)
        if reviewer.pk in authors and reviewer.pk not in had:
            raise AssignmentError(f"{reviewer} wrote part of this version, so someone else has to review it.")
    wanted = {Part.WRITER: {writer.pk} if writer else set(), Part.REVIEWER: {one.pk for one in reviewers}}
    # A part is given up before it is given away: one person may change from the one to the other.
    for part in sorted(Part.values, key=lambda part: bool(wanted[Part(part)])):
        name_people([task], part, {task.pk: wanted[Part(part)]}, by=by)


def refuse_unfit(user: User, part: str, found: Mapping[str, Sequence[Candidate]]) -> None:
    if user.pk not in {one.user.pk for one in found[part]}:
        what = "write" if part == Part.WRITER else "review"
        raise AssignmentError(f"{user} is not allowed to {what} tasks here. An owner can add the role.")


def name_people(tasks: Sequence[Task], part: str, wanted: Mapping[int, set[int]], *, by: User) -> None:
    """Replace the assignments of tasks, given by task key, each with an event and a notification. The number of queries
    is constant. Tasks are locked and come with their persona; the users are already validated."""
    rows = Assignment.objects.filter(task__in=tasks)
    stored = {(row.task_id, row.user_id): row for row in rows}
    had = {
        task.pk: {user for (key, user), row in stored.items() if key == task.pk and row.part == part} for task in tasks
    }
    gone = Q()
    for task in tasks:
        if out := had[task.pk] - wanted[task.pk]:
            gone |= Q(task=task, user__in=out)
    new = [(task, user) for task in tasks for user in sorted(wanted[task.pk] - had[task.pk])]
    for task, user in new:
        if (task.pk, user) in stored:  # they had the other part
            gone |= Q(task=task, user=user)
    if gone:
        rows.filter(gone).delete()
    Assignment.objects.bulk_create(
        [Assignment(task=task, user_id=user, part=part, by=by) for task, user in new], batch_size=500
    )
    changed = [task for task in tasks if had[task.pk] != wanted[task.pk]]
    _tell(changed, new, part, wanted, by)


def _tell(
    changed: Sequence[Task], new: Sequence[tuple[Task, int]], part: str, wanted: Mapping[int, set[int]], by: User
) -> None:
    if not changed:
        return
    people = User.objects.in_bulk({user for task in changed for user in wanted[task.pk]})
    does = "writes" if part == Part.WRITER else "reviews"
    events = []
    for task in changed:
        names = " and ".join(sorted(str(people[user]) for user in wanted[task.pk]))
        many = len(wanted[task.pk]) > 1
        summary = f"{names} {does.removesuffix('s') if many else does} it." if names else f"Nobody {does} it."
        persona = task.episode.persona
        events.append(
            Event(
                benchmark_id=persona.benchmark_id,
                persona=persona,
                task=task,
                actor=by,
                verb="assigned",
                summary=summary,
                data={"version": task.version, "part": part},
            )
        )
    Event.objects.bulk_create(events, batch_size=500)
    what = "to write" if part == Part.WRITER else "to review"
    notify.notify_many(
        [
            notify.Message(frozenset({user}), f"asks you {what} “{task}”.", task.get_absolute_url(), task)
            for task, user in new
        ],
        notify.Kind.ASSIGNED,
        benchmark=changed[0].episode.persona.benchmark_id,
        by=by,
    )
