"""What a pilot's page says while it runs: what is left, and what to do about failures."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from evaluation import llm
from evaluation.llm.errors import EndpointError
from evaluation.models import Pilot, Session
from evaluation.pilots.matrix import ADVICE, DEFECT, advice_for, pilot_progress
from evaluation.pilots.session_work import work_on
from studio.models import Event
from tests.evaluation.builders import benchmark_of, task
from tests.evaluation.factories import pilot_row
from tests.evaluation.pilots.builders import start
from tests.evaluation.stub_model import StubModel


@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key", "quick_retries")
def test_failure_of_our_own_says_what_to_do(stub: StubModel):
    stub.agent = lambda body: (401, "{}")
    pilot = start(stub, task("a"))
    for _ in range(2):
        work_on(Session.objects.get().pk)

    [reason] = pilot_progress(pilot).reasons

    assert "refused the key" in reason.text
    assert (reason.number, reason.advice) == (1, ADVICE["KeyRejectedError"])


def test_every_failure_of_an_endpoint_has_its_advice():
    exported = vars(llm).values()
    errors = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, EndpointError)]
    kinds = {kind.__name__ for kind in errors if kind is not EndpointError}

    assert kinds <= ADVICE.keys()
    assert advice_for("InternalError") == DEFECT


@pytest.mark.django_db
def test_what_is_left_is_estimated_from_the_sessions_that_are_over():
    pilot = pilot_row(benchmark_of(*(task(f"t{n}") for n in range(4))), runs=2)
    Pilot.objects.update(state="running")
    pilot.refresh_from_db()
    done = [row.pk for row in Session.objects.order_by("pk")[:2]]
    Session.objects.filter(pk__in=done).update(state="finished", calls=10, agent_tokens=100, cost="0.5")
    too_few = pilot_progress(pilot).left
    Session.objects.filter(pk=Session.objects.order_by("pk")[2].pk).update(
        state="failed", calls=10, agent_tokens=100, cost="0.5"
    )

    left = pilot_progress(pilot).left

    assert too_few is None
    assert left is not None
    assert (left.known, left.calls, left.tokens, float(left.cost)) == (3, 50, 500, 2.5)


@pytest.mark.django_db
def test_time_left_goes_by_the_time_since_the_pilot_last_went_on_not_by_its_pauses(monkeypatch: pytest.MonkeyPatch):
    pilot = pilot_row(benchmark_of(*(task(f"t{n}") for n in range(4))), runs=2)
    now = timezone.now()
    Pilot.objects.update(state="running", created_at=now - timedelta(hours=20))
    pilot.refresh_from_db()
    rows = Session.objects.order_by("pk").values_list("pk", flat=True)
    Session.objects.filter(pk__in=rows[:2]).update(state="finished", ended_at=now - timedelta(hours=19))
    Event.objects.create(benchmark=pilot.benchmark, verb="resumed", summary="Resumed.", data={"pilot": pilot.pk})
    later = now + timedelta(minutes=30)
    monkeypatch.setattr("evaluation.pilots.matrix.timezone", SimpleNamespace(now=lambda: later))
    Session.objects.filter(pk__in=rows[2:4]).update(state="finished", ended_at=later)
    too_few = pilot_progress(pilot).left
    Session.objects.filter(pk=rows[4]).update(state="finished", ended_at=later)

    left = pilot_progress(pilot).left

    assert too_few is not None and too_few.minutes is None
    assert left is not None and left.minutes == 30
