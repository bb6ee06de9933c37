"""A worker outlives its broker."""

from __future__ import annotations

from unittest.mock import Mock

from celery.bootsteps import CLOSE, RUN

from studio.celery import app


def test_worker_connects_again_when_kombu_stumbles_over_a_connection_that_is_gone():
    worker = app.Worker(pool="solo", loglevel="ERROR")
    consumer = app.subclass_with_self(app.conf.worker_consumer)(
        Mock(), app=app, pool=Mock(), controller=worker, hostname="test", initial_prefetch_count=1
    )
    starts: list[int] = []

    def start(_: object) -> None:
        starts.append(1)
        if len(starts) == 1:
            raise AttributeError("'NoneType' object has no attribute 'disconnect'")
        consumer.blueprint.state = CLOSE

    consumer.blueprint = Mock(state=RUN, start=start)
    consumer.connection = None

    consumer.start()

    assert len(starts) == 2
    consumer.blueprint.restart.assert_called_once()
