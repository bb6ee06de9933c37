"""Waiting for a pilot to end, while workers run its sessions or this process does."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from evaluation.models import Pilot, Session
from evaluation.pilots.carrier import Carrier
from evaluation.pilots.lifecycle import sweep
from studio.celery import workers_answer

logger = logging.getLogger(__name__)
UNFINISHED = (Pilot.State.WAITING, Pilot.State.RUNNING)
THREADS = 16
POLL_SECONDS = 0.2
PING_SECONDS = 15.0
"""Seconds without progress after which the workers are pinged again."""


def wait_for_pilot(pilot: Pilot, *, log: Callable[[str], None] = logger.info) -> Pilot:
    """Return when the pilot has ended or is paused. If no worker answers, its sessions run here, in threads."""
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
    carrier = Carrier(THREADS, pilot.pk)
    carrier.start()
    swept = time.monotonic()
    try:
        while pilot.state in UNFINISHED:
            if time.monotonic() - swept > PING_SECONDS:
                sweep()  # gives up on sessions that killed one worker after another
                swept = time.monotonic()
            time.sleep(POLL_SECONDS)
            pilot.refresh_from_db(fields=["state"])
    finally:
        carrier.stop(wait_seconds=PING_SECONDS)
