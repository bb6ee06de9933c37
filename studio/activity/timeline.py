"""A task's activity: versions, workflow steps, reviews, comments and assignments, newest first."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import CharField, F, Q, QuerySet, Value
from django.utils import timezone

from studio.domain.diff import describe_changes
from studio.models import Comment, Event, Review, Revision, Task
from studio.review.threads import Thread

VERSION_VERBS = ("created", "edited", "imported", "restored")
REVIEW_VERBS = ("approved", "changes_requested", "approved_elsewhere")
COMMENT_VERBS = ("settled_a_remark", "opened_a_remark_again")
FILTERS = {"": "All", "versions": "Versions", "talk": "Comments"}
PAGE = 50


@dataclass
class TimelineEntry:
    kind: str
    """``version``, ``review``, ``comment``, ``reply`` or ``event``."""
    at: dt.datetime
    row: Any
    summary: str = ""
    """Of a version or an event."""
    thread: Thread | None = None
    """Of a comment or a reply."""
    applied: list[Comment] = field(default_factory=list)
    """Suggestions applied in this version."""

    @property
    def day(self) -> dt.date:
        return timezone.localtime(self.at).date()


def activity_of(task: Task, *, only: str = "", page: Any = 1, size: int = PAGE) -> Page[Any]:
    """A page of entries, newest first, narrowed by a key of ``FILTERS``. A constant number of queries."""
    result: Page[Any] = Paginator(_keys(task, only), size).get_page(page)
    result.object_list = _entries(task, [(kind, pk) for kind, pk, _ in result.object_list])
    return result


def by_day(entries: Iterable[TimelineEntry]) -> list[tuple[dt.date, list[TimelineEntry]]]:
    return [(day, list(group)) for day, group in groupby(entries, key=lambda entry: entry.day)]


def _keys(task: Task, only: str) -> QuerySet[Any, Any]:
    events = Event.objects.filter(task=task).exclude(verb__in=VERSION_VERBS + REVIEW_VERBS)
    parts: list[QuerySet[Any, Any]] = []
    if only != "talk":
        parts += [_key(Revision.objects.filter(task=task), "version", "created_at")]
        parts += [_key(events.exclude(verb__in=COMMENT_VERBS), "event", "at")]
    if only != "versions":
        parts += [_key(Comment.objects.filter(task=task).filter(_visible()), "comment", "created_at")]
        if only == "talk":
            parts += [_key(events.filter(verb__in=COMMENT_VERBS), "event", "at")]
    if only == "":
        parts[1] = _key(events, "event", "at")
    parts += [_key(Review.objects.filter(revision__task=task), "review", "created_at")]
    everything: QuerySet[Any, Any] = parts[0].union(*parts[1:], all=True).order_by("-at_", "-kind_", "-pk")
    return everything


def _visible() -> Q:
    return Q(deleted_at=None) | Q(replies__isnull=False, replies__deleted_at=None)


def _key(rows: QuerySet[Any, Any], kind: str, moment: str) -> QuerySet[Any, Any]:
    keys: QuerySet[Any, Any] = (
        rows.order_by()
        .annotate(kind_=Value(kind, output_field=CharField()), at_=F(moment))
        .values_list("kind_", "pk", "at_")
        .distinct()
    )
    return keys


def _entries(task: Task, keys: Sequence[tuple[str, int]]) -> list[TimelineEntry]:
    by_kind: dict[str, list[int]] = {"version": [], "review": [], "comment": [], "event": []}
    for kind, pk in keys:
        by_kind[kind].append(pk)
    entries: dict[tuple[str, int], TimelineEntry] = {}
    versions = Revision.objects.defer("spec").select_related("created_by").prefetch_related("applied__author")
    summaries = _version_summaries(task, by_kind["version"])
    for revision in versions.filter(pk__in=by_kind["version"]):
        applied = sorted(revision.applied.all(), key=lambda row: row.pk)
        entries["version", revision.pk] = TimelineEntry(
            "version", revision.created_at, revision, summaries.get(revision.number, ""), applied=applied
        )
    for review in (
        Review.objects.select_related("reviewer", "revision").defer("revision__spec").filter(pk__in=by_kind["review"])
    ):
        entries["review", review.pk] = TimelineEntry("review", review.created_at, review)
    comments = Comment.objects.select_related("author", "reply_to", "revision").defer("revision__spec")
    for comment in comments.filter(pk__in=by_kind["comment"]):
        kind = "reply" if comment.reply_to_id else "comment"
        thread = Thread.as_created(comment.reply_to or comment)
        entries["comment", comment.pk] = TimelineEntry(kind, comment.created_at, comment, thread=thread)
    for event in Event.objects.select_related("actor").filter(pk__in=by_kind["event"]):
        entries["event", event.pk] = TimelineEntry("event", event.at, event, event.summary)
    return [entries[key] for key in keys if key in entries]


def _version_summaries(task: Task, keys: Sequence[int]) -> dict[int, str]:
    if not keys:
        return {}
    numbers = Revision.objects.filter(pk__in=keys).values_list("number", flat=True)
    rows = Event.objects.filter(task=task, verb__in=VERSION_VERBS, data__version__in=list(numbers)).order_by("pk")
    first = {"imported": "Imported.", "created": "Created."}
    return {
        event.data["version"]: first.get(event.verb, "")
        if event.data["version"] == 1
        else describe_changes(_fields(event))
        for event in rows
    }


def _fields(event: Event) -> list[str]:
    return [str(name) for name in event.data.get("fields", ())]
