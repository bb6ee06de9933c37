"""Telling people what they should know: written by the rules that cause it, read in the inbox, sent as a digest.

Nobody is told of what they did themselves, of a benchmark they do not belong to, or of a kind they chose not to hear.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from studio.access import ALLOWED, Somebody, benchmarks_for
from studio.models import (
    Assignment,
    Benchmark,
    Comment,
    Membership,
    Notification,
    NotificationChoice,
    Review,
    Revision,
    Task,
    User,
)

Kind = Notification.Kind
How = NotificationChoice.How

MENTION = re.compile(r"(?<![\w@.+-])@([\w@.+-]+)")
LONGEST_WORDS = 300
"""Characters of somebody's words that are told; the rest stands on the page."""


@dataclass(frozen=True)
class Message:
    """Something that some people should know, by their keys."""

    people: frozenset[int]
    text: str
    address: str
    task: Task | None = None


def tell(
    people: Iterable[int],
    kind: str,
    text: str,
    *,
    benchmark: Benchmark | int,
    address: str,
    by: User | None,
    task: Task | None = None,
) -> None:
    """Tell these people, by key. Three queries, however many they are."""
    tell_many([Message(frozenset(people), text, address, task)], kind, benchmark=benchmark, by=by)


def tell_many(messages: Sequence[Message], kind: str, *, benchmark: Benchmark | int, by: User | None) -> None:
    """Tell of many things of one kind, at the cost of one."""
    everyone: set[int] = set()
    for message in messages:
        everyone |= message.people - {by.pk if by else 0}
    if not everyone:
        return
    key = benchmark if isinstance(benchmark, int) else benchmark.pk
    heard = set(
        Membership.objects.filter(benchmark=key, user__in=everyone, user__is_active=True)
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
                benchmark_id=key,
                actor=by,
            )
            for message in messages
            for pk in sorted(message.people & heard)
        ],
        batch_size=500,
    )


def people_who_may(benchmark: Benchmark | int, action: str) -> set[int]:
    """Members whose role allows it, by key."""
    rows = Membership.objects.filter(benchmark=benchmark, role__in=ALLOWED[action])
    return set(rows.values_list("user_id", flat=True))


def mentioned_in(text: str) -> set[str]:
    """User names after an @, without the full stop of a sentence."""
    return {name.rstrip(".+-@") for name in MENTION.findall(text)} - {""}


def tell_of_remark(remark: Comment, *, told_before: str = "") -> None:
    """Those a remark mentions, and who writes the task. ``told_before``: the words it had, of which they know."""
    mentioned = _mentioned(remark, told_before)
    if not told_before and remark.reply_to_id is None:
        words = _short(remark.text or "a suggestion")
        text = f"commented on “{remark.task}”: {words}"
        writers = writers_of(remark.task) - mentioned
        _tell_of_task(remark.task, writers, Kind.REMARKED, text, by=remark.author, anchor=f"#remark-{remark.pk}")


def tell_of_answer(answer: Comment) -> None:
    """Those the answer mentions, and who else took part in the talk."""
    root = answer.reply_to
    assert root is not None
    mentioned = _mentioned(answer, "")
    others = people_in(root)
    text = f"replied on “{answer.task}”: {_short(answer.text)}"
    _tell_of_task(answer.task, others - mentioned, Kind.ANSWERED, text, by=answer.author, anchor=f"#remark-{root.pk}")


def tell_of_settling(root: Comment, *, by: User, settled: bool) -> None:
    """Those who took part in the talk."""
    done = "settled" if settled else "reopened"
    text = f"{done} a comment on “{root.task}”: {_short(root.text or root.words)}"
    _tell_of_task(root.task, people_in(root), Kind.SETTLED, text, by=by, anchor=f"#remark-{root.pk}")


def people_in(root: Comment) -> set[int]:
    """Who said something in a talk."""
    return set(root.replies.filter(deleted_at=None).values_list("author", flat=True)) | {root.author_id}


def tell_of_applied(task: Task, applied: Iterable[Comment], saved: Revision, *, by: User) -> None:
    """Those whose suggestions are in a version now."""
    text = f"applied your suggestion on “{task}”: version {saved.number}."
    _tell_of_task(task, {row.author_id for row in applied}, Kind.ANSWERED, text, by=by, anchor="#remarks")


def writers_of(task: Task) -> set[int]:
    """Who is to write the task; where nobody is named, who wrote its newest version."""
    named = set(task.assignments.filter(part="writer").values_list("user", flat=True))
    newest = task.revisions.filter(number=task.version).exclude(created_by=None)
    return named or set(newest.values_list("created_by", flat=True))


def _mentioned(remark: Comment, told_before: str) -> set[int]:
    """Tell those whom these words mention and earlier ones did not."""
    if not (names := mentioned_in(remark.text) - mentioned_in(told_before)):
        return set()
    people = set(User.objects.filter(username__in=names).values_list("pk", flat=True))
    text = f"mentioned you in a comment on “{remark.task}”: {_short(remark.text)}"
    anchor = f"#remark-{remark.reply_to_id or remark.pk}"
    _tell_of_task(remark.task, people, Kind.MENTIONED, text, by=remark.author, anchor=anchor)
    return people


def tell_of_submissions(tasks: Sequence[Task], authors: Mapping[int, Collection[int]], *, by: User) -> None:
    """Those who are asked to review each; where nobody is, those who may and did not write it. ``authors``: by the
    task's key. A few queries for each benchmark, however many tasks."""
    asked: dict[int, set[int]] = {}
    named = Assignment.objects.filter(task__in=tasks, part=Assignment.Part.REVIEWER)
    for key, person in named.values_list("task_id", "user_id"):
        asked.setdefault(key, set()).add(person)
    by_benchmark: dict[int, list[Task]] = {}
    for task in tasks:
        by_benchmark.setdefault(task.episode.persona.benchmark_id, []).append(task)
    for benchmark, own in by_benchmark.items():
        may = people_who_may(benchmark, "review")
        messages = []
        for task in own:
            wrote = set(authors[task.pk])
            people = frozenset(asked.get(task.pk, set()) - wrote or may - wrote)
            messages.append(Message(people, f"asked for a review of “{task}”.", task.get_absolute_url(), task))
        tell_many(messages, Kind.REVIEW_ASKED, benchmark=benchmark, by=by)


def tell_of_changes(task: Task, authors: Collection[int], words: str, *, by: User) -> None:
    _tell_of_task(task, authors, Kind.CHANGES_REQUESTED, f"requested changes to “{task}”: {_short(words)}", by=by)


def tell_of_approval(task: Task, authors: Collection[int], *, by: User) -> None:
    _tell_of_task(task, authors, Kind.APPROVED, f"approved version {task.version} of “{task}”.", by=by)


def tell_of_edits(edited: Mapping[int, int], *, by: User | None) -> None:
    """Who said yes to a version that is not the newest any more. ``edited``: that version, by the task's key.

    To be called after the save, for tasks that were in review, approved or released. One query where nobody said yes.
    """
    if not edited:
        return
    given = Review.objects.filter(revision__task__in=edited, decision=Review.Decision.APPROVED)
    approvers: dict[int, set[int]] = {}
    for review in given.select_related("revision"):
        if review.reviewer_id and edited[review.revision.task_id] == review.revision.number:
            approvers.setdefault(review.revision.task_id, set()).add(review.reviewer_id)
    if not approvers:
        return
    by_benchmark: dict[int, list[Task]] = {}
    for task in Task.objects.select_related("episode__persona__benchmark").filter(pk__in=approvers):
        by_benchmark.setdefault(task.episode.persona.benchmark_id, []).append(task)
    for benchmark, tasks in by_benchmark.items():
        said = "edited “{}”, of which you approved version {}. It needs another review."
        tell_many(
            [
                Message(
                    frozenset(approvers[task.pk]), said.format(task, edited[task.pk]), task.get_absolute_url(), task
                )
                for task in tasks
            ],
            Kind.EDITED_AFTER,
            benchmark=benchmark,
            by=by,
        )


def tell_of_import(benchmark: Benchmark, summary: str, *, by: User | None) -> None:
    """Those who edit the benchmark."""
    people = people_who_may(benchmark, "edit")
    text = f"imported into {benchmark}: {summary}"
    tell(people, Kind.IMPORTED, text, benchmark=benchmark, address=benchmark.get_absolute_url(), by=by)


def inbox_of(user: Somebody) -> QuerySet[Notification]:
    """What this person was told, newest first, of benchmarks they still belong to."""
    if not user.is_authenticated:
        return Notification.objects.none()
    rows = Notification.objects.filter(user=user, benchmark__in=benchmarks_for(user))
    return rows.select_related("actor", "benchmark", "task__episode__persona__benchmark").order_by("-created_at", "-pk")


def place_of(row: Notification) -> str:
    """Path of the page where it happened, also if the persona has a new id. Costs nothing after ``inbox_of``."""
    if row.task is None:
        return row.address
    anchor = row.address.partition("#")[2]
    return row.task.get_absolute_url() + (f"#{anchor}" if anchor else "")


def count_unread(user: Somebody) -> int:
    if not user.is_authenticated:
        return 0
    return inbox_of(user).filter(read_at=None).count()


def mark_read(user: User, *, only: int | None = None) -> int:
    """Mark one notification of this person as read, or all; return how many were not."""
    rows = Notification.objects.filter(user=user, read_at=None)
    return (rows if only is None else rows.filter(pk=only)).update(read_at=timezone.now())


def choices_of(user: User) -> dict[str, str]:
    """How this person is told, by kind."""
    chosen = dict(NotificationChoice.objects.filter(user=user).values_list("kind", "how"))
    return {kind: chosen.get(kind, How.EMAIL) for kind in Kind.values}


@transaction.atomic
def choose(user: User, choices: Mapping[str, str]) -> None:
    """Keep how this person wants to be told; kinds and ways nobody knows are left out."""
    rows = [
        NotificationChoice(user=user, kind=kind, how=how)
        for kind, how in choices.items()
        if kind in Kind.values and how in How.values
    ]
    NotificationChoice.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["user", "kind"], update_fields=["how"]
    )


def _tell_of_task(
    task: Task, people: Iterable[int], kind: str, text: str, *, by: User | None, anchor: str = ""
) -> None:
    persona = task.episode.persona
    address = task.get_absolute_url() + anchor
    tell(people, kind, text, benchmark=persona.benchmark_id, address=address, by=by, task=task)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_WORDS else text[: LONGEST_WORDS - 1].rstrip() + "…"
