"""Sending sessions to the workers. The queue only carries ids; the rows say what is to be done."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evaluation.leases.sessions import ENQUEUE_AGAIN, State, claimable
from evaluation.models import Run, Session
from studio.celery import app

logger = logging.getLogger(__name__)
RUN_SESSION = "evaluation.tasks.run_session"


def enqueue_due(runs: Iterable[Run] | None = None, *, sent_before: bool = True) -> int:
    """Send what can go on now, once the transaction is stored; returns how many.

    ``runs`` None is all of them. ``sent_before`` False leaves out what was sent a short while ago. Sending
    twice does no harm, since a session is claimed once.
    """
    now = timezone.now()
    due = claimable()
    if runs is not None:
        due = due.filter(run__in=list(runs))
    if not sent_before:
        due = due.filter(Q(retry_at=None) | Q(retry_at__lte=now))
    ids = list(due.values_list("pk", flat=True))
    Session.objects.filter(pk__in=ids).exclude(state__in=[State.ERROR, State.RUNNING]).update(
        retry_at=now + ENQUEUE_AGAIN
    )
    if ids:
        transaction.on_commit(lambda: send(RUN_SESSION, ids), robust=True)
    return len(ids)


def workers_answer(timeout: float = 1.0) -> bool:
    """Whether at least one worker listens to the queue."""
    try:
        return bool(app.control.ping(timeout=timeout))
    except Exception:
        return False


def send(task: str, ids: Iterable[int]) -> None:
    """Put one message for each id on the queue. A broker that is away is no failure: rows are looked for again."""
    ids = list(ids)
    try:
        with app.connection_for_write(connect_timeout=2) as broker:
            for pk in ids:
                app.send_task(task, args=[pk], connection=broker, retry=False, ignore_result=True)
    except Exception:  # the sweep sends them again; a command that waits runs them itself
        logger.warning("The queue cannot be reached; %d rows wait for %s.", len(ids), task, exc_info=True)
