"""What is sent to the workers, in which order and how much of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.utils import timezone

from evaluation.models import Session
from evaluation.models.leased import RESEND_AFTER
from evaluation.pilots import queue
from evaluation.pilots.control import control_pilot
from evaluation.pilots.queue import Work, dispatch, fair_order, leasable
from evaluation.pilots.session_work import work_on
from studio.models.transactions import try_lock
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.pilots.builders import start
from tests.evaluation.stub_model import StubModel

SESSIONS = Work("run", work_on, Session, leasable, "run__pilot", "position")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Any:
    """Keys that a dispatch sends, with as many places as are given."""
    keys: list[int] = []
    monkeypatch.setattr(queue, "enqueue", lambda name, rows: keys.extend(rows))

    def send(places: int = 10, *works: Work) -> list[int]:
        keys.clear()
        cache.set("worker-places", places)
        with django_capture_on_commit_callbacks(execute=True):
            dispatch(works or (SESSIONS,))
        return list(keys)

    return send


def test_pilot_of_two_is_served_before_one_of_thousands_takes_more():
    due = {1: range(1000, 6000), 2: [1, 2]}

    order = fair_order(due, running={1: 1})

    assert order[:4] == [1, 1000, 2, 1001]
    assert len(order) == 5002


def test_pilot_that_runs_most_goes_last():
    assert fair_order({1: [10, 11], 2: [20]}, running={1: 200}) == [20, 10, 11]


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key")
def test_sessions_of_a_paused_pilot_are_not_sent_until_it_goes_on(stub: StubModel, sent: Any):
    pilot, other = start(stub, task("a"), task("b")), start(stub, task("a"))
    first = Session.objects.filter(run__pilot=pilot).order_by("position")[0].pk
    [lone] = Session.objects.filter(run__pilot=other).values_list("pk", flat=True)

    assert set(sent()) == {first, lone}
    control_pilot(pilot.pk, "pause", by=None)
    Session.objects.update(queued_at=None)
    assert sent() == [lone]
    Session.objects.update(queued_at=timezone.now())
    control_pilot(pilot.pk, "resume", by=None)
    assert sent() == [first]


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key")
def test_no_more_is_sent_than_there_are_places_for(stub: StubModel, sent: Any):
    big, small = start(stub, task("a"), runs=6), start(stub, task("a"), runs=2)
    of_pilot = dict(Session.objects.values_list("pk", "run__pilot"))

    first = sent(places=4)
    assert sorted(of_pilot[pk] for pk in first) == [big.pk, big.pk, small.pk, small.pk]
    assert sent(places=4) == []
    session = queue.claim_session(first[0])
    assert session and sent(places=4) == []
    session.release(state="finished", graded_compat_at=timezone.now(), ended_at=timezone.now())
    assert [of_pilot[pk] for pk in sent(places=4)] == [big.pk]


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key")
def test_what_somebody_waits_for_is_sent_though_all_places_are_taken(stub: StubModel, sent: Any):
    start(stub, task("a"))
    awaited = Work("run", work_on, Session, leasable, "run__pilot", awaited=True)
    busy = start(stub, task("a"))
    Session.objects.filter(run__pilot=busy).update(
        state="running", claimed_by="x", lease_until=timezone.now() + timedelta(minutes=1)
    )
    assert sent(1) == []
    assert len(sent(1, awaited)) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key")
def test_a_message_that_was_lost_is_sent_again_after_a_while(stub: StubModel, sent: Any):
    start(stub, task("a"))

    [pk] = sent()
    assert sent() == []
    Session.objects.update(queued_at=timezone.now() - RESEND_AFTER - timedelta(seconds=1))
    assert sent() == [pk]


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key", "quick_retries")
def test_a_message_that_comes_twice_finds_nothing_to_claim(stub: StubModel):
    start(stub, task("a", intents=intents("x"), checklist=(rubric("c"),)))
    pk = Session.objects.get().pk

    assert work_on(pk)
    asked = stub.asked.total()
    assert not work_on(pk)
    assert stub.asked.total() == asked


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("stub_key")
def test_two_who_dispatch_at_once_send_everything_once(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    start(stub, task("a"), runs=20)
    keys: list[int] = []
    monkeypatch.setattr(queue, "enqueue", lambda name, rows: keys.extend(rows))
    cache.set("worker-places", 100)
    together = threading.Barrier(4)

    def send(_: int) -> None:
        try:
            together.wait()
            dispatch((SESSIONS,))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))

    assert sorted(keys) == sorted(Session.objects.values_list("pk", flat=True))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("stub_key")
def test_who_finds_somebody_dispatching_leaves_it_to_them(stub: StubModel):
    start(stub, task("a"))

    def other() -> None:
        try:
            dispatch((SESSIONS,))
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as pool:
        assert try_lock(queue._LOCK)
        pool.submit(other).result()
    assert Session.objects.get().queued_at is None
