"""The part of a Celery worker that listens to the broker."""

from __future__ import annotations

from typing import Any

from celery.worker import consumer


class Consumer(consumer.Consumer):
    """Connects again when kombu stumbles over a connection that is gone: a worker that ended would take hundreds of
    sessions with it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # of a broker that goes away in the middle of a read, kombu's Redis transport sees None where a connection was
        self.connection_errors: tuple[type[BaseException], ...] = (*self.conninfo.connection_errors, AttributeError)
