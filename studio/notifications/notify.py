"""Notifying people. They read it in the inbox, or in an email digest.

Nobody is notified of their own actions, of a benchmark they do not belong to, or of a kind they turned off.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from studio.access import ALLOWED
from studio.models import (
    Assignment,
    Benchmark,
    Comment,
    Import,
    Membership,
    Notification,
    NotificationChoice,
    Persona,
    Review,
    Revision,
    Task,
    TaskState,
    User,
)
from studio.models.review import STANDING

Kind = Notification.Kind
How = NotificationChoice.How

MENTION = re.compile(r"(?<![\w@.+-])@([\w@.+-]+)")
MAX_QUOTE = 300
"""Characters of a comment that a notification quotes."""


@dataclass(frozen=True)
class Message:
    """A notification for several recipients, given by user key."""

    people: frozenset[int]
    text: str
    address: str
    benchmark: int
    """Its key."""
    task: Task | None = None


def about(task: Task, people: Iterable[int], text: str, *, anchor: str = "") -> Message:
    return Message(frozenset(people), text, task.get_absolute_url() + anchor, task.persona.benchmark_id, task)


def notify(
    people: Iterable[int], kind: str, text: str, *, benchmark: Benchmark | int, address: str, by: User | None
) -> None:
    key = benchmark if isinstance(benchmark, int) else benchmark.pk
    notify_many([Message(frozenset(people), text, address, key)], kind, by=by)


def notify_many(messages: Sequence[Message], kind: str, *, by: User | None) -> None:
    """The number of queries depends on the benchmarks alone."""
    for benchmark in dict.fromkeys(message.benchmark for message in messages):
        own = [message for message in messages if message.benchmark == benchmark]
        recipients = {person for message in own for person in message.people} - {by.pk if by else 0}
        if not recipients:
            continue
        reachable = set(
            Membership.objects.filter(benchmark=benchmark, user__in=recipients, user__is_active=True)
            .exclude(user__in=NotificationChoice.objects.filter(kind=kind, how=How.NOT).values("user"))
            .values_list("user_id", flat=True)
        )
        Notification.objects.bulk_create(
            [
                Notification(
                    user_id=pk,
                    kind=kind,
                    text=message.text,
                    address=message.address,
                    task=message.task,
                    benchmark_id=benchmark,
                    actor=by,
                )
                for message in own
                for pk in sorted(message.people & reachable)
            ],
            batch_size=500,
        )


def users_allowed(benchmark: Benchmark | int, action: str) -> set[int]:
    rows = Membership.objects.filter(benchmark=benchmark, role__in=ALLOWED[action])
    return set(rows.values_list("user_id", flat=True))


def mentions_in(text: str) -> set[str]:
    """Usernames after an @, without a sentence's full stop."""
    return {name.rstrip(".+-@") for name in MENTION.findall(text)} - {""}


def notify_of_comment(comment: Comment, *, previous_text: str = "") -> None:
    """Notify mentioned people and the task's authors. ``previous_text`` of an edited comment: nobody is notified of the
    same mention twice."""
    mentioned = _notify_mentioned(comment, previous_text)
    if not previous_text and comment.reply_to_id is None:
        text = f"commented on “{comment.task}”: {_shortened(comment.text or 'a suggestion')}"
        writers = writers_of(comment.task) - mentioned
        _notify_of_task(comment.task, writers, Kind.COMMENTED, text, by=comment.author, anchor=_anchor(comment))


def notify_of_reply(reply: Comment) -> None:
    root = reply.reply_to
    assert root is not None
    others = participants(root) - _notify_mentioned(reply)
    text = f"replied on “{reply.task}”: {_shortened(reply.text)}"
    _notify_of_task(reply.task, others, Kind.REPLIED, text, by=reply.author, anchor=_anchor(root))


def notify_of_resolution(root: Comment, *, by: User, resolved: bool) -> None:
    text = f"{'resolved' if resolved else 'reopened'} a comment on “{root.task}”: {_shortened(root.text or root.quote)}"
    _notify_of_task(root.task, participants(root), Kind.RESOLVED, text, by=by, anchor=_anchor(root))


def participants(root: Comment) -> set[int]:
    return set(root.replies.filter(deleted_at=None).values_list("author", flat=True)) | {root.author_id}


def notify_of_applied_suggestions(task: Task, applied: Iterable[Comment], saved: Revision, *, by: User) -> None:
    text = f"applied your suggestion on “{task}”: version {saved.number}."
    _notify_of_task(task, {row.author_id for row in applied}, Kind.REPLIED, text, by=by, anchor="#comments")


def writers_of(task: Task) -> set[int]:
    assigned = set(Assignment.objects.filter(task=task, part="writer").values_list("user", flat=True))
    newest = Revision.objects.filter(task=task, number=task.version, created_by__isnull=False)
    return assigned or set(newest.values_list("created_by", flat=True))


def _anchor(comment: Comment) -> str:
    return f"#comment-{comment.reply_to_id or comment.pk}"


def _notify_mentioned(comment: Comment, previous_text: str = "") -> set[int]:
    if not (names := mentions_in(comment.text) - mentions_in(previous_text)):
        return set()
    people = set(User.objects.filter(username__in=names).values_list("pk", flat=True))
    text = f"mentioned you in a comment on “{comment.task}”: {_shortened(comment.text)}"
    _notify_of_task(comment.task, people, Kind.MENTIONED, text, by=comment.author, anchor=_anchor(comment))
    return people


def notify_of_submissions(tasks: Sequence[Task], authors: Mapping[int, Collection[int]], *, by: User) -> None:
    """Notify each task's reviewers; without any, everyone who may review it and did not write it. ``authors``: user
    keys by task key."""
    reviewers: dict[int, set[int]] = {}
    assigned = Assignment.objects.filter(task__in=tasks, part=Assignment.Part.REVIEWER)
    for key, person in assigned.values_list("task_id", "user_id"):
        reviewers.setdefault(key, set()).add(person)
    allowed = {key: users_allowed(key, "review") for key in {task.persona.benchmark_id for task in tasks}}
    messages = []
    for task in tasks:
        wrote = set(authors[task.pk])
        people = reviewers.get(task.pk, set()) - wrote or allowed[task.persona.benchmark_id] - wrote
        messages.append(about(task, people, f"asked for a review of “{task}”."))
    notify_many(messages, Kind.REVIEW_REQUESTED, by=by)


def notify_of_requested_changes(task: Task, authors: Collection[int], text: str, *, by: User) -> None:
    text = f"requested changes to “{task}”: {_shortened(text)}"
    _notify_of_task(task, authors, Kind.CHANGES_REQUESTED, text, by=by)


def notify_of_approval(task: Task, authors: Collection[int], *, by: User) -> None:
    _notify_of_task(task, authors, Kind.APPROVED, f"approved version {task.version} of “{task}”.", by=by)


def notify_of_last_approval(task: Task, *, by: User) -> None:
    """Tell those who can release that every task is approved now, so that what else blocks a release is theirs."""
    benchmark = task.persona.benchmark
    done = (TaskState.APPROVED, TaskState.RELEASED, TaskState.RETIRED)
    if Task.objects.filter(persona__benchmark=benchmark).exclude(state__in=done).exists():
        return
    notify(
        users_allowed(benchmark, "release"),
        Kind.RELEASE_BLOCKED,
        f"approved “{task}”: every task of {benchmark} is approved now. See what else blocks a release.",
        benchmark=benchmark,
        address=reverse("evaluation:release_new", args=[benchmark.slug]),
        by=by,
    )


def notify_of_edits(edited: Mapping[int, int], *, by: User | None) -> None:
    """Notify people whose approved version is no longer the newest. ``edited``: the version before, by task key.

    Call after saving tasks that were in review, approved or released. One query if nobody had approved.
    """
    if not edited:
        return
    given = Review.objects.filter(revision__task__in=edited, decision=Review.Decision.APPROVED)
    approvers: dict[int, set[int]] = {}
    for review in given.select_related("revision"):
        if review.reviewer_id and edited[review.revision.task_id] == review.revision.number:
            approvers.setdefault(review.revision.task_id, set()).add(review.reviewer_id)
    text = "edited “{}”, of which you approved version {}. It needs another review."
    tasks = Task.objects.select_related("persona__benchmark").filter(pk__in=approvers)
    messages = [about(task, approvers[task.pk], text.format(task, edited[task.pk])) for task in tasks]
    notify_many(messages, Kind.EDITED_AFTER_APPROVAL, by=by)


def notify_of_outdated_approvals(tasks: Sequence[Task], *, by: User | None) -> None:
    """Notify people whose approval no longer holds, though the task's own text has not changed: once for each persona.

    Call when that happens, after their new ``content`` is stored.
    """
    if not tasks:
        return
    given = Review.objects.filter(
        STANDING,
        revision__task__in=tasks,
        decision=Review.Decision.APPROVED,
        reviewer__isnull=False,
    )
    approved: dict[int, dict[int, list[int]]] = {}
    for key, person, task in given.values_list("revision__task__persona_id", "reviewer_id", "revision__task_id"):
        approved.setdefault(key, {}).setdefault(person, []).append(task)
    titles = {task.pk: str(task) for task in tasks}
    messages = []
    for persona in Persona.objects.filter(pk__in=approved).select_related("benchmark"):
        address = reverse("studio:approvals", args=[persona.benchmark.slug, persona.user_id])
        for person, keys in approved[persona.pk].items():
            what = f"“{titles[keys[0]]}” depends" if len(keys) == 1 else f"{len(keys)} tasks of {persona} depend"
            text = f"changed what {what} on: your approval is outdated. See the change, and approve again."
            messages.append(Message(frozenset({person}), text, address, persona.benchmark_id))
    notify_many(messages, Kind.EDITED_AFTER_APPROVAL, by=by)


def notify_of_import(benchmark: Benchmark, summary: str, *, by: User | None) -> None:
    people = users_allowed(benchmark, "edit")
    text = f"imported into {benchmark}: {summary}"
    notify(people, Kind.IMPORTED, text, benchmark=benchmark, address=benchmark.get_absolute_url(), by=by)


def notify_of_publication(row: Import, people: Iterable[int], text: str, *, by: User) -> None:
    notify(people, Kind.IMPORTED, text, benchmark=row.benchmark, address=row.get_absolute_url(), by=by)


def _notify_of_task(
    task: Task, people: Iterable[int], kind: str, text: str, *, by: User | None, anchor: str = ""
) -> None:
    notify_many([about(task, people, text, anchor=anchor)], kind, by=by)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1].rstrip() + "…"
