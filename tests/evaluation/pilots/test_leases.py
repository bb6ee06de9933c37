from __future__ import annotations

import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from evaluation.leases import expire_dead, give_up, renewing
from evaluation.models import ModelCall, Pilot, Session, SessionIntent, Turn
from evaluation.models.leased import LeaseLostError
from evaluation.pilots.control import control_pilot
from evaluation.pilots.lifecycle import sweep
from evaluation.pilots.queue import claim_session, leasable
from evaluation.pilots.session_work import work_on
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel, decisions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


@pytest.mark.slow
def test_sessions_of_a_run_go_in_order_and_compat_waits_for_the_last(stub: StubModel):
    pilot = start(stub, task("a", checklist=(rubric("x"),)), task("b", checklist=(rubric("y"),)))
    first, second = Session.objects.order_by("position")

    assert work_on(second.pk) is False
    assert work_on(first.pk) is True
    first.refresh_from_db()
    assert (first.state, first.comp_strict, first.comp_compat) == ("finished", 1.0, None)
    assert work_on(first.pk) is False
    assert work_on(second.pk) is True
    pilot.refresh_from_db()
    assert pilot.state == "running"
    assert work_on(first.pk) is True
    pilot.refresh_from_db()
    first.refresh_from_db()
    assert (pilot.state, first.comp_compat) == ("finished", 1.0)


@pytest.mark.slow
def test_session_of_a_dead_worker_resumes_without_paying_twice(stub: StubModel, settings):
    settings.SESSION_LEASE_SECONDS = 0.01
    stub.follow_up = lambda body: decisions(body, lambda index: False)
    pilot = start(stub, task("a", intents=intents("one", "two", "three")))
    session = Session.objects.get()
    replies = iter(["first", "second"])

    stub.agent = lambda body: next(replies, (400, "{}"))
    work_on(session.pk)
    session.refresh_from_db()
    stored = list(session.turns.values_list("number", "reply"))
    answered = ModelCall.objects.filter(answered=True).count()
    Session.objects.update(state="running", claimed_by="dead", lease_until="2020-01-01T00:00Z", retry_at=None)

    stub.agent = lambda body: "third"
    sweep()
    before = stub.asked.total()
    work_through(pilot)

    session.refresh_from_db()
    assert stored == [(1, "first"), (2, "second")]
    assert [turn.reply for turn in session.turns.all()] == ["first", "second", "third", "third"]
    assert stub.asked.total() - before == ModelCall.objects.filter(answered=True).count() - answered


@pytest.mark.django_db(transaction=True)
def test_worker_without_its_lease_stores_nothing(stub: StubModel):
    pilot = start(stub, task("a"))
    session = Session.objects.get()

    def take_over(body: dict) -> str:
        Session.objects.update(claimed_by="someone else")
        connection.close()  # this runs in a thread of the server
        return "too late"

    stub.agent = take_over
    work_on(session.pk)

    assert (Turn.objects.count(), SessionIntent.objects.count()) == (0, 0)
    assert Session.objects.get().claimed_by == "someone else"
    assert pilot.state == "waiting"


@pytest.mark.django_db(transaction=True)
def test_cancelled_session_stores_nothing(stub: StubModel):
    pilot = start(stub, task("a"))

    def cancel(body: dict) -> str:
        control_pilot(pilot.pk, "cancel", by=None)
        connection.close()  # this runs in a thread of the server
        return "too late"

    stub.agent = cancel
    work_on(Session.objects.get().pk)

    pilot.refresh_from_db()
    assert (pilot.state, Session.objects.get().state, Turn.objects.count()) == ("cancelled", "cancelled", 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("action", ["cancel", "pause"])
def test_session_whose_pilot_is_being_stopped_is_not_claimed(stub: StubModel, action: str):
    pilot = start(stub, task("a"))
    pk = Session.objects.get().pk

    def want() -> bool:
        try:
            return claim_session(pk) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            control_pilot(pilot.pk, action, by=None)
            got = pool.submit(want)
            while not (got.done() or somebody_waits_for_a_lock()):
                wait([got], timeout=0.01)
        assert got.result() is False

    assert Session.objects.get().state == ("cancelled" if action == "cancel" else "waiting")


@pytest.mark.django_db(transaction=True)
def test_only_one_worker_acquires_a_session(stub: StubModel):
    start(stub, task("a"))
    pk = Session.objects.get().pk
    together = threading.Barrier(6)

    def want(_: int) -> bool:
        try:
            together.wait()
            return claim_session(pk) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(want, range(6)))

    assert got.count(True) == 1


def test_leases_of_dead_processes_expire_and_those_of_live_ones_do_not(stub: StubModel):
    start(stub, task("a"), task("b"))
    first, second = Session.objects.order_by("position")
    gone = subprocess.Popen(["true"])
    gone.wait()
    held_here = claim_session(first.pk).claimed_by
    Session.objects.filter(pk=first.pk).update(claimed_by=held_here.replace(f":{os.getpid()}:", f":{gone.pid}:"))
    lease = timezone.now() + timedelta(minutes=1)
    Session.objects.filter(pk=second.pk).update(state="running", claimed_by=held_here, lease_until=lease)

    assert expire_dead() == 1

    assert claim_session(first.pk) is not None
    assert Session.objects.get(pk=second.pk).lease_until == lease


def test_session_that_kills_its_workers_is_stopped(stub: StubModel):
    start(stub, task("a"))
    Session.objects.update(state="running", claimed_by="dead", lease_until="2020-01-01T00:00Z", attempts=2)

    sweep()

    session = Session.objects.get()
    assert (session.state, session.reason) == ("error", "Its worker stopped 2 times before a turn was stored.")
    assert Pilot.objects.get().state == "stopped"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_leases_of_a_process_are_renewed_as_long_as_it_works(stub: StubModel, settings):
    settings.SESSION_LEASE_SECONDS = 0.6
    start(stub, task("a"))
    session = claim_session(Session.objects.get().pk)

    with renewing(session):
        end = time.monotonic() + 30
        while Session.objects.get().lease_until == session.lease_until and time.monotonic() < end:
            time.sleep(0.02)
        assert Session.objects.get().lease_until > session.lease_until
        session.require()


def test_a_worker_that_stops_hands_its_sessions_over(stub: StubModel):
    start(stub, task("a"))
    session = claim_session(Session.objects.get().pk)

    with renewing(session):
        give_up()
        with pytest.raises(LeaseLostError):
            session.require()

    assert list(leasable()) == [session]


@pytest.mark.slow
def test_a_worker_that_stops_in_an_orderly_way_uses_up_no_attempt(stub: StubModel):
    start(stub, task("a"))

    for _ in range(10):
        session = claim_session(Session.objects.get().pk)
        with renewing(session):
            give_up()

    assert Session.objects.get().attempts == 0


def test_what_lost_its_lease_writes_and_releases_nothing(stub: StubModel):
    start(stub, task("a"))
    session = claim_session(Session.objects.get().pk)
    Session.objects.update(claimed_by="another")

    for attempt in (session.lock, lambda: session.write(turn_count=3)):
        with pytest.raises(LeaseLostError):
            attempt()
    assert not session.release(turn_count=3)
    assert (Session.objects.get().turn_count, Session.objects.get().claimed_by) == (0, "another")
