"""A worker process that carries many sessions: which it takes up, in what order, and with what connections."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from evaluation.models import Pilot, Session
from evaluation.models.connections import give_back_connection
from evaluation.pilots import carrier
from evaluation.pilots.carrier import Carrier
from evaluation.pilots.control import control_pilot
from evaluation.pilots.queue import due_sessions, fair_order
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.pilots.builders import start
from tests.evaluation.stub_model import StubModel


def test_pilot_of_two_is_served_before_one_of_thousands_takes_more():
    due = {1: range(1000, 6000), 2: [1, 2]}

    order = fair_order(due, running={1: 1})

    assert order[:4] == [1, 1000, 2, 1001]
    assert len(order) == 5002


def test_pilot_that_runs_most_goes_last():
    assert fair_order({1: [10, 11], 2: [20]}, running={1: 200}) == [20, 10, 11]


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key")
def test_sessions_of_a_paused_pilot_are_not_due(stub: StubModel):
    pilot, other = start(stub, task("a"), task("b")), start(stub, task("a"))
    first = Session.objects.filter(run__pilot=pilot).order_by("position")[0].pk
    [lone] = Session.objects.filter(run__pilot=other).values_list("pk", flat=True)

    assert set(due_sessions(10)) == {first, lone}
    assert due_sessions(10, pilot_id=pilot.pk) == [first]
    control_pilot(pilot.pk, "pause", by=None)
    assert due_sessions(10) == [lone]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("stub_key", "quick_retries")
def test_carrier_takes_pilots_to_their_end_and_grades_each_run(stub: StubModel):
    tasks = [task("a", intents=intents("x"), checklist=(rubric("c"),)), task("b", intents=intents("y"))]
    pilots = [start(stub, *tasks, runs=3), start(stub, *tasks)]
    four = Carrier(4)

    four.start()
    try:
        until(lambda: set(Pilot.objects.values_list("state", flat=True)) == {"finished"})
    finally:
        four.stop(wait_seconds=10)

    assert set(Session.objects.values_list("state", flat=True)) == {"finished"}
    assert not Session.objects.filter(graded_compat_at=None).exists()
    assert [pilot.runs.count() for pilot in pilots] == [3, 1]
    assert four.carried == 0


def test_due_sessions_are_read_once_however_many_sessions_end(monkeypatch: pytest.MonkeyPatch):
    reads: list[int] = []
    monkeypatch.setattr(carrier, "due_sessions", lambda limit, pilot_id: reads.append(limit) or [1, 2, 3])
    monkeypatch.setattr(carrier, "due_in_run", lambda pk: [pk + 10] if pk < 10 else [])
    monkeypatch.setattr(carrier, "POLL_SECONDS", 600)
    monkeypatch.setattr(carrier, "STALE_SECONDS", 600)
    ended: list[int] = []
    monkeypatch.setattr(Carrier, "_carry", lambda self, pk, opened: (opened(), self._hand_on(pk), ended.append(pk)))
    one = Carrier(20)

    until(lambda: one._fill() or len(ended) == 6)

    assert sorted(ended) == [1, 2, 3, 11, 12, 13]
    assert len(reads) == 1
    one.wake()
    one._fill()
    assert len(reads) == 2


@pytest.mark.parametrize(("pooled", "in_transaction", "given_back"), [(0, 0, 0), (1, 0, 1), (1, 1, 0)])
def test_connection_is_given_back_only_where_connections_are_pooled(
    monkeypatch: pytest.MonkeyPatch, pooled: int, in_transaction: int, given_back: int
):
    closed: list[bool] = []
    stand_in = SimpleNamespace(
        settings_dict={"OPTIONS": {"pool": {}} if pooled else {}},
        connection=object(),
        in_atomic_block=bool(in_transaction),
        close=lambda: closed.append(True),
    )
    monkeypatch.setattr("evaluation.models.connections.connections", {"default": stand_in})

    give_back_connection()

    assert len(closed) == given_back


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
