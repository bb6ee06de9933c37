"""Enqueuing sessions that can continue."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evaluation.leases.queue import enqueue
from evaluation.leases.sessions import State, leasable
from evaluation.models import Run, Session

RUN_SESSION = "evaluation.tasks.run_session"
RESEND_AFTER = timedelta(minutes=2)
"""A message that no worker has acted on is sent again after this."""


def enqueue_due(runs: Iterable[Run] | None = None, *, include_recent: bool = True) -> int:
    """Enqueue the sessions of ``runs``, or of all, that can continue, once this transaction commits; returns how many.

    Without ``include_recent``, sessions enqueued within RESEND_AFTER are left out. A duplicate message is harmless,
    because a session is leased only once.
    """
    now = timezone.now()
    due = leasable()
    if runs is not None:
        due = due.filter(run__in=list(runs))
    if not include_recent:
        due = due.filter(Q(retry_at=None) | Q(retry_at__lte=now))
    ids = list(due.values_list("pk", flat=True))
    Session.objects.filter(pk__in=ids).exclude(state__in=[State.ERROR, State.RUNNING]).update(
        retry_at=now + RESEND_AFTER
    )
    if ids:
        transaction.on_commit(lambda: enqueue(RUN_SESSION, ids), robust=True)
    return len(ids)
