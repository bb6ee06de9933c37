"""Waiting for a pilot to end: with the workers' help, or by doing their work in this process."""

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
GOES_ON = (Pilot.State.WAITING, Pilot.State.RUNNING)
THREADS = 16
LOOK_EVERY = 0.2
"""Seconds between two looks at the rows."""
ASK_WORKERS_EVERY = 15.0
"""Seconds without progress after which the workers are asked again whether they live."""


def wait_for(pilot: Pilot, *, tell: Callable[[str], None] = logger.info) -> Pilot:
    """Return when the pilot has ended. Where no worker answers, its sessions run here, in threads."""
    while pilot.state in GOES_ON:
        if workers_answer():
            tell("Workers answer; waiting for them.")
            _watch(pilot)
        else:
            tell("No worker answers; the sessions run in this process.")
            _work(pilot)
        pilot.refresh_from_db()
    return pilot


def _watch(pilot: Pilot) -> None:
    """Until the pilot has ended, or nothing has moved for a while."""
    seen, since = _progress(pilot), time.monotonic()
    while time.monotonic() - since < ASK_WORKERS_EVERY:
        time.sleep(LOOK_EVERY)
        pilot.refresh_from_db(fields=["state"])
        if pilot.state not in GOES_ON:
            return
        if (now := _progress(pilot)) != seen:
            seen, since = now, time.monotonic()


def _progress(pilot: Pilot) -> list[tuple[object, ...]]:
    rows = Session.objects.filter(run__pilot=pilot).order_by("pk")
    return list(rows.values_list("state", "turn_count", "graded_strict_at", "graded_compat_at"))


def _work(pilot: Pilot) -> None:
    """Do what workers would do, until the pilot has ended. What another process holds is waited for."""
    under_way: set[int] = set()

    def work(pk: int) -> None:
        try:
            work_on(pk)
        finally:
            under_way.discard(pk)
            connection.close()

    looked = time.monotonic()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="session") as pool:
        while True:
            pilot.refresh_from_db(fields=["state"])
            if pilot.state not in GOES_ON:
                return
            due = set(leasable().filter(run__pilot=pilot).values_list("pk", flat=True)) - under_way
            for pk in due:
                under_way.add(pk)
                pool.submit(work, pk)
            if time.monotonic() - looked > ASK_WORKERS_EVERY:
                sweep()  # gives up on what has killed worker after worker
                looked = time.monotonic()
            time.sleep(LOOK_EVERY if not due else 0.02)
