"""All that happened to a task as one story: versions, steps, reviews, remarks, suggestions, people, runs, by day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import CharField, F, Q, QuerySet, Value
from django.utils import timezone

from studio.domain.changes import describe_changes
from studio.models import Comment, Event, Review, Revision, Task
from studio.review.threads import Thread

OF_VERSIONS = ("created", "edited", "imported", "restored")
OF_REVIEWS = ("approved", "changes_requested", "approved_elsewhere")
OF_TALK = ("settled_a_remark", "opened_a_remark_again")
ONLY = {"": "All", "versions": "Versions", "talk": "Comments"}
PAGE = 50


@dataclass
class Entry:
    """One thing that happened."""

    kind: str
    """``version``, ``review``, ``remark``, ``answer`` or ``event``."""
    at: dt.datetime
    row: Any
    says: str = ""
    """In a line, for a version and an event."""
    remark: Thread | None = None
    """Of a remark or an answer, what it is about."""
    applied: list[Comment] = field(default_factory=list)
    """Suggestions that became this version."""

    @property
    def day(self) -> dt.date:
        return timezone.localtime(self.at).date()


def activity_of(task: Task, *, only: str = "", page: Any = 1, size: int = PAGE) -> Page[Any]:
    """The newest first, a page of entries in ``days``; ``only`` versions and steps, or talk. A number of queries that
    does not depend on how much happened."""
    found: Page[Any] = Paginator(_keys(task, only), size).get_page(page)
    entries = _entries(task, [(kind, pk) for kind, pk, _ in found.object_list])
    found.object_list = entries
    return found


def by_day(entries: Iterable[Entry]) -> list[tuple[dt.date, list[Entry]]]:
    return [(day, list(group)) for day, group in groupby(entries, key=lambda entry: entry.day)]


def _keys(task: Task, only: str) -> QuerySet[Any, Any]:
    """Kind, key and moment of everything; an import's or edit's line of history stands behind its version."""
    events = Event.objects.filter(task=task).exclude(verb__in=OF_VERSIONS + OF_REVIEWS)
    parts: list[QuerySet[Any, Any]] = []
    if only != "talk":
        parts += [_key(Revision.objects.filter(task=task), "version", "created_at")]
        parts += [_key(events.exclude(verb__in=OF_TALK), "event", "at")]
    if only != "versions":
        parts += [_key(Comment.objects.filter(task=task).filter(_said()), "remark", "created_at")]
        if only == "talk":
            parts += [_key(events.filter(verb__in=OF_TALK), "event", "at")]
    if only == "":
        parts[1] = _key(events, "event", "at")
    parts += [_key(Review.objects.filter(revision__task=task), "review", "created_at")]
    everything: QuerySet[Any, Any] = parts[0].union(*parts[1:], all=True).order_by("-at_", "-kind_", "-pk")
    return everything


def _said() -> Q:
    return Q(deleted_at=None) | Q(replies__isnull=False, replies__deleted_at=None)


def _key(rows: QuerySet[Any, Any], kind: str, moment: str) -> QuerySet[Any, Any]:
    keys: QuerySet[Any, Any] = (
        rows.order_by()
        .annotate(kind_=Value(kind, output_field=CharField()), at_=F(moment))
        .values_list("kind_", "pk", "at_")
        .distinct()
    )
    return keys


def _entries(task: Task, keys: Sequence[tuple[str, int]]) -> list[Entry]:
    wanted: dict[str, list[int]] = {"version": [], "review": [], "remark": [], "event": []}
    for kind, pk in keys:
        wanted[kind].append(pk)
    made: dict[tuple[str, int], Entry] = {}
    versions = Revision.objects.defer("spec").select_related("created_by").prefetch_related("applied__author")
    told = _told(task, wanted["version"])
    for revision in versions.filter(pk__in=wanted["version"]):
        applied = sorted(revision.applied.all(), key=lambda one: one.pk)
        made["version", revision.pk] = Entry(
            "version", revision.created_at, revision, told.get(revision.number, ""), applied=applied
        )
    for review in (
        Review.objects.select_related("reviewer", "revision").defer("revision__spec").filter(pk__in=wanted["review"])
    ):
        made["review", review.pk] = Entry("review", review.created_at, review)
    remarks = Comment.objects.select_related("author", "reply_to", "revision").defer("revision__spec")
    for remark in remarks.filter(pk__in=wanted["remark"]):
        kind = "answer" if remark.reply_to_id else "remark"
        made["remark", remark.pk] = Entry(
            kind, remark.created_at, remark, remark=Thread.as_made(remark.reply_to or remark)
        )
    for event in Event.objects.select_related("actor").filter(pk__in=wanted["event"]):
        made["event", event.pk] = Entry("event", event.at, event, event.summary)
    return [made[key] for key in keys if key in made]


def _told(task: Task, keys: Sequence[int]) -> dict[int, str]:
    """What each version changed, in a line, by its number."""
    if not keys:
        return {}
    numbers = Revision.objects.filter(pk__in=keys).values_list("number", flat=True)
    rows = Event.objects.filter(task=task, verb__in=OF_VERSIONS, data__version__in=list(numbers)).order_by("pk")
    first = {"imported": "Imported.", "created": "Created."}
    return {
        event.data["version"]: first.get(event.verb, "")
        if event.data["version"] == 1
        else describe_changes(_fields(event))
        for event in rows
    }


def _fields(event: Event) -> list[str]:
    return [str(name) for name in event.data.get("fields", ())]
