"""Waiting for rows that workers work on, or working on them here if there are no workers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connection

from evaluation.models import Pilot
from evaluation.models.leased import LeasedRows
from evaluation.pilots import session_work
from evaluation.pilots.lifecycle import GOING_ON, sweep
from evaluation.pilots.queue import leasable
from studio.celery import workers_answer

logger = logging.getLogger(__name__)
THREADS = 16
POLL_SECONDS = 0.2
PING_SECONDS = 15.0
"""Between two looks whether there are workers, and between two sweeps if there are none."""


def wait_for_pilot(pilot: Pilot, *, log: Callable[[str], None] = logger.info) -> Pilot:
    """Return when the pilot has ended or is paused. If no worker answers, its sessions run here, in threads."""
    wait_until_done(*_work_of(pilot), log)
    pilot.refresh_from_db()
    return pilot


def play_here(pilot: Pilot) -> Pilot:
    """As `wait_for_pilot`, without asking for workers first, which takes five seconds where there are none."""
    _work(*_work_of(pilot))
    pilot.refresh_from_db()
    return pilot


def _work_of(pilot: Pilot) -> tuple[Callable[[], bool], Callable[[], LeasedRows[Any]], Callable[[int], object]]:
    rows = Pilot.objects.filter(pk=pilot.pk, state__in=GOING_ON)
    return rows.exists, lambda: leasable().filter(run__pilot=pilot.pk), session_work.work_on


def wait_until_done(
    goes_on: Callable[[], bool],
    due: Callable[[], LeasedRows[Any]],
    work_on: Callable[[int], object],
    log: Callable[[str], None] = logger.info,
) -> None:
    tell = cache(log)  # each sentence once
    while goes_on():
        if workers_answer():
            tell("Workers answer; waiting for them.")
            _sleep_while(goes_on)
        else:
            tell("No worker answers; the work is done in this process.")
            _work(goes_on, due, work_on)


def _sleep_while(goes_on: Callable[[], bool]) -> None:
    end = time.monotonic() + PING_SECONDS
    while goes_on() and time.monotonic() < end:
        time.sleep(POLL_SECONDS)


def _work(goes_on: Callable[[], bool], due: Callable[[], LeasedRows[Any]], work_on: Callable[[int], object]) -> None:
    threads: dict[int, threading.Thread] = {}
    ended = threading.Event()

    def work(pk: int) -> None:
        try:
            work_on(pk)
        finally:
            connection.close()
            del threads[pk]
            ended.set()  # it may have made others due

    swept = time.monotonic()
    while goes_on():
        free = due().exclude(pk__in=list(threads)).values_list("pk", flat=True)
        for pk in free[: THREADS - len(threads)]:
            threads[pk] = threading.Thread(target=work, args=[pk], daemon=True)
            threads[pk].start()
        if time.monotonic() - swept > PING_SECONDS:
            sweep()  # gives up on sessions that killed one worker after another
            swept = time.monotonic()
        ended.wait(POLL_SECONDS)
        ended.clear()
    for thread in list(threads.values()):
        thread.join(PING_SECONDS)
