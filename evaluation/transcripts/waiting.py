"""Which model a running session waits for, and how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Max
from django.utils import timezone

from evaluation.models import ModelCall, Session

WHOM = {"agent": "the agent’s model", "user": "the model that plays the user", "judge": "the judge"}


@dataclass(frozen=True)
class Waiting:
    whom: str
    seconds: int


def with_waiting(rows: Iterable[Any]) -> list[Any]:
    """Sessions, each that waits with its ``waiting``. One query more if any runs."""
    sessions = list(rows)
    running = [row.pk for row in sessions if row.state == Session.State.RUNNING and row.asking_since]
    last: dict[int, Any] = {}
    if running:
        calls = ModelCall.objects.filter(session__in=running).order_by().values_list("session")
        last = dict(calls.annotate(last=Max("created_at")))
    now = timezone.now()
    for row in sessions:
        if row.pk in running:
            since = max(row.asking_since, last.get(row.pk, row.asking_since))
            row.waiting = Waiting(WHOM[row.asking], max(0, int((now - since).total_seconds())))
    return sessions
