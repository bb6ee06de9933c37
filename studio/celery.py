"""The Celery application, and messages to the workers. They carry only keys; the rows say what to do."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
if "worker" in sys.argv:  # else each of its two hundred threads would have a connection to the database of its own
    os.environ.setdefault("STUDIO_DATABASE_CONNECTIONS", "12")

KEPT = 25
"""One thread of so many is kept for short tasks, which people wait for."""
logger = logging.getLogger(__name__)

app = Celery("studio")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def enqueue(task: str, arguments: Iterable[object]) -> None:
    """Send one message for each. If the broker is unreachable, the next sweep sends them again."""
    arguments = list(arguments)
    try:
        with app.connection_for_write(connect_timeout=2) as broker:
            for argument in arguments:
                app.send_task(task, args=[argument], connection=broker, retry=False, ignore_result=True)
    except Exception:
        logger.warning("The queue cannot be reached; %d messages of %s wait.", len(arguments), task, exc_info=True)


def send(task: str) -> None:
    """One message without arguments. If the broker is unreachable, workers find what is due by themselves."""
    try:
        with app.connection_for_write(connect_timeout=2) as broker:
            app.send_task(task, connection=broker, retry=False, ignore_result=True)
    except Exception:
        logger.warning("The queue cannot be reached for %s.", task, exc_info=True)


def count_places() -> int:
    """Sessions and judgings that the workers which answer within a second can carry."""
    workers = app.control.inspect(timeout=1).stats() or {}
    limits = [worker["pool"]["max-concurrency"] for worker in workers.values()]
    return sum(limit - limit // KEPT for limit in limits)


def workers_answer(timeout: float = 5.0) -> bool:
    """Whether any does: at once if so, else after ``timeout`` seconds, for a busy one is slow."""
    try:
        return bool(app.control.ping(timeout=timeout, limit=1))
    except Exception:
        return False
