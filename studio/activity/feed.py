"""What happened, told as one tells it: by what it happened to, and not every save by itself."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import QuerySet

from studio.models import (
    Benchmark,
    Event,
    User,
)

READ = 400
"""Events looked at, newest first."""
SHOWN = 12
SAID_BY_VERB = ("created", "edited", "reordered", "withdrawn", "retired", "reopened")
"""Verbs whose sentence adds nothing to who did it how often."""
BARE = re.compile(r"^Version \d+\.\s*")
DEEDS = {
    "created": "created it",
    "edited": "edited it",
    "restored": "restored an earlier version",
    "reordered": "rearranged its tasks",
    "submitted": "submitted it for review",
    "withdrawn": "withdrew it from review",
    "approved": "approved it",
    "approved_elsewhere": "imported it as already approved",
    "changes_requested": "requested changes",
    "retired": "retired it",
    "reopened": "returned it to draft",
    "settled_a_remark": "resolved a comment",
    "opened_a_remark_again": "reopened a comment",
    "waived": "dismissed a finding",
    "unwaived": "undid a dismissal",
    "set_aside": "dismissed an error",
    "assigned": "assigned people",
    "moved": "moved it here",
    "copied": "copied it here",
    "started": "started it from a template",
    "saved_as_template": "saved it as a template",
    "template_changed": "changed a template",
    "template_deleted": "deleted a template",
    "members_changed": "changed members",
    "imported": "imported tasks",
    "piloted": "started a pilot",
    "released": "created a release",
    "audit_opened": "opened an audit",
    "audit_closed": "closed an audit",
}
"""What somebody did to a task, a persona or a benchmark, as it goes on after their name."""


@dataclass
class Piece:
    """All that happened to one task, persona or benchmark, with the newest event's time."""

    title: str
    address: str
    where: str
    at: dt.datetime
    people: list[str] = field(default_factory=list)
    deeds: Counter[str] = field(default_factory=Counter)
    words: str = ""
    """The newest event's own sentence, where it is more than a save."""
    state: str = ""
    """Of a task, as it is now."""

    @property
    def what(self) -> str:
        return ", ".join(
            DEEDS.get(verb, verb.replace("_", " ")) + (f" {times} times" if times > 1 else "")
            for verb, times in self.deeds.items()
        )

    @property
    def who(self) -> str:
        return " and ".join([", ".join(self.people[:-1]), self.people[-1]] if len(self.people) > 1 else self.people)


@dataclass(frozen=True)
class News:
    pieces: list[Piece]
    since: dt.datetime | None
    more: bool
    """There is more than is told here."""


def news_for(user: User, benchmarks: QuerySet[Benchmark], since: dt.datetime | None) -> News:
    """What others did since then, the newest first; of a first visit, what happened lately."""
    rows = recent_events(benchmarks)
    if since is not None:
        rows = rows.filter(at__gt=since).exclude(actor=user)
    events = list(rows[:READ])
    pieces = told(events)
    return News(pieces[:SHOWN], since, len(pieces) > SHOWN or len(events) == READ)


def told(events: Iterable[Event]) -> list[Piece]:
    """Events, newest first, as pieces in the order of their newest."""
    pieces: dict[tuple[str, int], Piece] = {}
    for event in events:
        key = (
            ("task", event.task_id)
            if event.task_id
            else ("persona", event.persona_id)
            if event.persona_id
            else ("benchmark", event.benchmark_id)
        )
        piece = pieces.get(key)
        if piece is None:
            piece = pieces[key] = _piece(event)
        name = str(event.actor) if event.actor else "the studio"
        if name not in piece.people:
            piece.people.append(name)
        piece.deeds[event.verb] += 1
    return list(pieces.values())


def _piece(event: Event) -> Piece:
    words = "" if event.verb in SAID_BY_VERB else event.summary.removeprefix(f"{event.verb.capitalize()}: ")
    words = BARE.sub("", words)
    if event.task:
        persona = event.task.episode.persona
        where = f"{persona.benchmark} · {persona}"
        return Piece(
            str(event.task), event.task.get_absolute_url(), where, event.at, words=words, state=event.task.state
        )
    if event.persona:
        return Piece(str(event.persona), event.persona.get_absolute_url(), str(event.benchmark), event.at, words=words)
    return Piece(str(event.benchmark), event.benchmark.get_absolute_url(), "", event.at, words=words)


def recent_events(benchmarks: QuerySet[Benchmark]) -> QuerySet[Event]:
    """What happened, newest first; of an import its one line, not one for every task."""
    single = Event.objects.exclude(verb__in=["imported", "approved_elsewhere"], persona__isnull=False)
    return single.filter(benchmark__in=benchmarks).select_related(
        "benchmark", "actor", "persona__benchmark", "task__episode__persona__benchmark"
    )
