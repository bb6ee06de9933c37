"""The activity feed: recent events, grouped by task, persona or benchmark, and visits to Home, which decide what is
new to a user."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import QuerySet

from studio.models import Benchmark, Event, User, Visit

MAX_EVENTS = 400
"""Newest events read for the feed."""
SHOWN = 12
WITHOUT_SUMMARY = ("created", "edited", "reordered", "withdrawn", "retired", "reopened")
"""Verbs of events whose summary adds nothing to the verb."""
WIDE = ("task__spec", "persona__spec", "persona__episode", "task__persona__spec", "task__persona__episode")
"""What the feed does not show of tasks and personas."""
VERSION_PREFIX = re.compile(r"^Version \d+\.\s*")
ACTIONS = {
    "created": "created it",
    "edited": "edited it",
    "restored": "restored an earlier version",
    "reordered": "rearranged its tasks",
    "submitted": "submitted it for review",
    "withdrawn": "withdrew it from review",
    "approved": "approved it",
    "approved_elsewhere": "confirmed that it was approved elsewhere",
    "changes_requested": "requested changes",
    "retired": "retired it",
    "reopened": "returned it to draft",
    "deleted": "deleted it",
    "undeleted": "restored it after it was deleted",
    "settled_a_remark": "resolved a comment",
    "opened_a_remark_again": "reopened a comment",
    "waived": "dismissed a finding",
    "unwaived": "undid a dismissal",
    "set_aside": "dismissed an error",
    "assigned": "assigned people",
    "moved": "moved it here",
    "copied": "copied it here",
    "started": "started it from a starting point",
    "made_template": "made it a template",
    "unmade_template": "no longer made it a template",
    "members_changed": "changed members",
    "imported": "imported tasks",
    "publication_requested": "asked to mark imported tasks as already approved",
    "publication_confirmed": "confirmed that imported tasks were approved elsewhere",
    "publication_declined": "declined to mark imported tasks as already approved",
    "accepted_elsewhere": "accepted its approval elsewhere",
    "piloted": "started a pilot",
    "results_submitted": "submitted results",
    "results_verified": "changed whether submitted results are verified",
    "released": "created a release",
    "signing_key_made": "made a signing key",
    "limits_changed": "changed the limits of releases",
    "exception_made": "accepted what blocks a release",
    "exception_withdrawn": "withdrew an exception",
    "erratum_published": "published an erratum",
    "audit_opened": "opened an audit",
    "audit_closed": "closed an audit",
    "audit_reopened": "reopened an audit",
    "verdicts_corrected": "corrected verdicts by an audit",
}
"""Text for each event verb, after the actor's name."""


@dataclass
class ActivityItem:
    """Recent events of one task, persona or benchmark."""

    title: str
    address: str
    location: str
    at: dt.datetime
    verbs: dict[str, Counter[str]] = field(default_factory=dict)
    """By who acted, the latest first."""
    summary: str = ""
    """The newest event's summary, unless it is a plain save."""
    state: str = ""
    """The task's current state."""

    @property
    def acts(self) -> list[tuple[str, str]]:
        """Who did what last."""
        return [(name, describe_verb(*next(iter(verbs.items())))) for name, verbs in self.verbs.items()]


@dataclass(frozen=True)
class ActivityFeed:
    items: list[ActivityItem]
    since: dt.datetime | None
    more: bool
    """Whether there are further items."""


class _Row(NamedTuple):
    pk: int
    benchmark: int
    persona: int | None
    task: int | None
    actor: int | None
    verb: str


def activity_feed(user: User, since: dt.datetime | None) -> ActivityFeed:
    """What others did since then, newest first; without ``since``, recent activity of everyone."""
    rows = _narrow(Benchmark.objects.of_member(user.pk))
    if since is not None:
        rows = rows.filter(at__gt=since).exclude(actor=user)
    events = [_Row(*row) for row in rows.values_list(*_Row._fields)[:MAX_EVENTS]]
    by_subject: dict[tuple[str, int], list[_Row]] = {}
    for event in events:
        by_subject.setdefault(_subject(event.benchmark, event.persona, event.task), []).append(event)
    shown = list(by_subject.values())[:SHOWN]
    whole = _with_rows(Event.objects.all()).in_bulk([same[0].pk for same in shown])
    actors = User.objects.in_bulk({event.actor for same in shown for event in same if event.actor})
    items = []
    for same in shown:
        if newest := whole.get(same[0].pk):
            items.append(_item(newest))
            for event in same:
                _add_act(items[-1], actors.get(event.actor or 0), event.verb)
    return ActivityFeed(items, since, len(by_subject) > SHOWN or len(events) == MAX_EVENTS)


def _subject(benchmark: int, persona: int | None, task: int | None) -> tuple[str, int]:
    if task:
        return ("task", task)
    return ("persona", persona) if persona else ("benchmark", benchmark)


def _add_act(item: ActivityItem, actor: User | None, verb: str) -> None:
    item.verbs.setdefault(str(actor) if actor else "the studio", Counter())[verb] += 1


def describe_verb(verb: str, times: int) -> str:
    return ACTIONS.get(verb, verb.replace("_", " ")) + (f" {times} times" if times > 1 else "")


def _item(event: Event) -> ActivityItem:
    summary = "" if event.verb in WITHOUT_SUMMARY else event.summary.removeprefix(f"{event.verb.capitalize()}: ")
    summary = VERSION_PREFIX.sub("", summary)
    if event.task:
        task, page = event.task_here, event.task_here or event.persona or event.benchmark
        return ActivityItem(
            str(event.task),
            page.get_absolute_url(),
            f"{event.benchmark} · {event.persona}",
            event.at,
            summary=summary,
            state=task.state if task else "",
        )
    if event.persona:
        return ActivityItem(
            str(event.persona), event.persona.get_absolute_url(), str(event.benchmark), event.at, summary=summary
        )
    return ActivityItem(str(event.benchmark), event.benchmark.get_absolute_url(), "", event.at, summary=summary)


def recent_events(benchmarks: QuerySet[Benchmark]) -> QuerySet[Event]:
    """Newest first; an import counts as one event, not one for every task."""
    return _with_rows(_narrow(benchmarks))


def _with_rows(events: QuerySet[Event]) -> QuerySet[Event]:
    related = ("benchmark", "actor", "persona__benchmark", "task__persona__benchmark")
    return events.select_related(*related).defer(*WIDE)


def latest_events(benchmark: Benchmark, *, most: int) -> list[Event]:
    """The first of the benchmark's ``recent_events``."""
    keys = list(_narrow(Benchmark.objects.filter(pk=benchmark.pk)).values_list("pk", flat=True)[:most])
    events = _with_rows(Event.objects.all()).in_bulk(keys)
    return [events[key] for key in keys if key in events]


def _narrow(benchmarks: QuerySet[Benchmark]) -> QuerySet[Event]:
    single = Event.objects.exclude(verb__in=["imported", "approved_elsewhere"], persona__isnull=False)
    return single.filter(benchmark__in=benchmarks)


PAUSE = dt.timedelta(hours=1)
"""After this long away, opening Home starts a new visit."""


def start_visit(user: User, now: dt.datetime) -> dt.datetime | None:
    """Record that the user opened Home, and return when their previous visit ended; None on the first.

    The result stays the same for the whole visit, so new items stay new.
    """
    visit, _ = Visit.objects.get_or_create(user=user, defaults={"latest": now})
    if now <= visit.latest:
        return visit.before
    if now - visit.latest > PAUSE:
        visit.before = visit.latest
    visit.latest = now
    visit.save(update_fields=["before", "latest"])
    return visit.before
