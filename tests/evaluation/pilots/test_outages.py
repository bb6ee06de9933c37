"""A model endpoint that is down for long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evaluation.llm.retry import RetryPolicy
from evaluation.models import Session
from evaluation.pilots.control import control_pilot
from evaluation.pilots.session_work import work_on
from tests.evaluation.builders import intents, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.mark.slow
def test_outage_of_hours_does_not_stop_a_pilot(stub: StubModel, settings: Any, monkeypatch: pytest.MonkeyPatch):
    settings.SESSION_RETRY_SECONDS = 10
    monkeypatch.setattr("evaluation.llm.client.RetryPolicy", lambda: RetryPolicy(attempts=1))
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    stub.agent = lambda body: (503, "{}")
    pilot = start(stub, task("a", intents=intents("x")))
    session = Session.objects.get()
    pauses = []
    for _ in range(30):
        work_on(session.pk)
        session.refresh_from_db()
        pauses.append((session.retry_at - now).total_seconds())
        now = session.retry_at
    pilot.refresh_from_db()
    assert (pilot.state, session.state, session.attempts) == ("running", "error", 0)
    assert pauses[:3] == [10, 10, 20]
    assert pauses[-1] == 600
    assert sum(pauses) > 3 * 3600

    stub.agent = lambda body: "Done."
    work_through(pilot)
    session.refresh_from_db()
    assert (pilot.state, session.failing_since) == ("finished", None)


def test_outage_of_more_than_a_day_stops_a_pilot_until_resumed(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evaluation.llm.client.RetryPolicy", lambda: RetryPolicy(attempts=1))
    stub.agent = lambda body: (503, "{}")
    pilot = start(stub, task("a", intents=intents("x")))
    session = Session.objects.get()
    work_on(session.pk)
    Session.objects.update(failing_since=timezone.now() - timedelta(days=1), retry_at=timezone.now())

    assert work_through(pilot).state == "stopped"

    stub.agent = lambda body: "Done."
    control_pilot(pilot.pk, "retry", by=None)
    assert work_through(pilot).state == "finished"
