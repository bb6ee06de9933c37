"""Waiting for a pilot to end, while workers run its sessions or this process does."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from evaluation.leases.queue import workers_answer
from evaluation.leases.sessions import leasable
from evaluation.models import Pilot, Session
from evaluation.pilots.lifecycle import sweep
from evaluation.pilots.session_work import work_on

logger = logging.getLogger(__name__)
UNFINISHED = (Pilot.State.WAITING, Pilot.State.RUNNING)
THREADS = 16
POLL_SECONDS = 0.2
PING_SECONDS = 15.0
"""Seconds without progress after which the workers are pinged again."""


def wait_for_pilot(pilot: Pilot, *, log: Callable[[str], None] = logger.info) -> Pilot:
    """Return when the pilot has ended. If no worker answers, its sessions run here, in threads."""
    while pilot.state in UNFINISHED:
        if workers_answer():
            log("Workers answer; waiting for them.")
            _watch(pilot)
        else:
            log("No worker answers; the sessions run in this process.")
            _work(pilot)
        pilot.refresh_from_db()
    return pilot


def _watch(pilot: Pilot) -> None:
    latest, since = _progress(pilot), time.monotonic()
    while time.monotonic() - since < PING_SECONDS:
        time.sleep(POLL_SECONDS)
        pilot.refresh_from_db(fields=["state"])
        if pilot.state not in UNFINISHED:
            return
        if (now := _progress(pilot)) != latest:
            latest, since = now, time.monotonic()


def _progress(pilot: Pilot) -> list[tuple[object, ...]]:
    rows = Session.objects.filter(run__pilot=pilot).order_by("pk")
    return list(rows.values_list("state", "turn_count", "graded_strict_at", "graded_compat_at"))


def _work(pilot: Pilot) -> None:
    in_progress: set[int] = set()

    def work(pk: int) -> None:
        try:
            work_on(pk)
        finally:
            in_progress.discard(pk)
            connection.close()

    swept = time.monotonic()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="session") as pool:
        while True:
            pilot.refresh_from_db(fields=["state"])
            if pilot.state not in UNFINISHED:
                return
            due = set(leasable().filter(run__pilot=pilot).values_list("pk", flat=True)) - in_progress
            for pk in due:
                in_progress.add(pk)
                pool.submit(work, pk)
            if time.monotonic() - swept > PING_SECONDS:
                sweep()  # gives up on sessions that killed one worker after another
                swept = time.monotonic()
            time.sleep(POLL_SECONDS if not due else 0.02)
