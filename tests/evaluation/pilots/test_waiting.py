"""What pages say while a model thinks, and of requests that were not answered."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from evaluation.llm import EndpointTimeoutError
from evaluation.llm.retry import RetryPolicy, Timing
from evaluation.models import ModelCall, Session, Turn
from evaluation.pilots.session_work import work_on
from evaluation.templatetags.evaluation_ui import duration
from evaluation.transcripts.waiting import unanswered_calls
from tests.evaluation.builders import intents, task
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_while_the_first_answer_is_thought_of_pages_say_whom_they_wait_for_and_how_long(
    stub: StubModel, client: Client
):
    pilot = start(stub, task("a", intents=intents("one")))
    [session] = Session.objects.all()
    client.force_login(person(pilot.benchmark, "owner"))
    pages: list[str] = []

    def look(body: dict[str, Any]) -> str:
        Session.objects.update(asking_since=timezone.now() - timedelta(seconds=100))
        type(pilot).objects.update(created_at=timezone.now() - timedelta(seconds=100))
        pages.extend(client.get(row.get_absolute_url()).content.decode() for row in (session, pilot))
        connection.close()  # this runs in a thread of the server
        return "Done."

    stub.agent = look
    work_on(session.pk)

    for page in pages[:2]:
        assert re.search(r"waiting for the agent’s model, 1 min [45]\d s", page, re.IGNORECASE)
    assert "ended before it was resolved" not in pages[0] and "Still open." in pages[0]
    assert "No turns yet" not in pages[0]
    assert "no worker may be running" not in pages[1]
    assert "0 answered calls" in " ".join(pages[1].split())


@pytest.mark.slow
def test_request_that_timed_out_is_told_with_its_repeats_and_what_it_may_have_cost(
    stub: StubModel, client: Client, monkeypatch: pytest.MonkeyPatch
):
    def fail_once(endpoint: Any, *args: Any) -> Any:
        if stub.asked["satisfaction"] == 1 and not ModelCall.objects.filter(answered=False).exists():
            raise EndpointTimeoutError(f"{endpoint.name} did not answer within 600 seconds.")
        return send(endpoint, *args)

    from evaluation.llm import sending

    send = sending.send_request
    monkeypatch.setattr(sending, "send_request", fail_once)
    monkeypatch.setattr("evaluation.llm.client.RetryPolicy", lambda: RetryPolicy(attempts=3))
    pilot = start(stub, task("a", intents=intents("one", "two")))
    pilot.config["agent"] |= {"input_price": "10", "output_price": "0"}
    pilot.save()
    work_through(pilot)

    [told] = unanswered_calls(Session.objects.get())

    assert (told.turn, told.whom, told.attempts) == (1, "the model that plays the user", 3)
    assert told.sentence.endswith("did not answer within 600 seconds.")


@pytest.mark.slow
def test_duration_of_a_turn_counts_what_was_answered_before_its_worker_was_killed(
    stub: StubModel, monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]

    def think(body: dict[str, Any]) -> str:
        clock[0] += 240
        return "Done."

    monkeypatch.setattr("evaluation.llm.client.Timing", lambda: Timing(now=lambda: clock[0]))
    start(stub, task("a", intents=intents("one")))
    [session] = Session.objects.all()
    stub.agent, stub.satisfaction = think, lambda body: (503, "{}")
    work_on(session.pk)
    stub.satisfaction = StubModel().satisfaction
    Session.objects.update(retry_at=timezone.now())

    work_on(session.pk)

    assert Turn.objects.order_by("number")[0].milliseconds >= 240_000


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (40, "40 s"), (100, "1 min 40 s"), (3_600, "1 h"), (3_725, "1 h 2 min")]
)
def test_durations_are_said_in_words(seconds: int, text: str):
    assert duration(seconds) == text
