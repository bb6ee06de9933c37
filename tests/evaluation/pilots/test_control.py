"""Pause, resume, cancel and retry, on the page, in the API and from the command line."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from evaluation.models import ModelCall, Pilot, Session, Turn
from evaluation.pilots.control import ControlError, control_pilot
from evaluation.pilots.matrix import pilot_progress
from evaluation.pilots.session_work import work_on
from tests.evaluation.builders import intents, task
from tests.evaluation.factories import person, pilot_row
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("action", "state"), [("pause", "waiting"), ("cancel", "cancelled")])
def test_stopped_pilot_sends_no_further_call_and_counts_the_one_under_way(stub: StubModel, action: str, state: str):
    pilot = start(stub, task("a", intents=intents("one", "two")))
    pilot.config["agent"] |= {"input_price": "1000", "output_price": "0"}
    pilot.save()

    def stop(body: dict) -> str:
        control_pilot(pilot.pk, action, by=None)
        connection.close()  # this runs in a thread of the server
        return "in time"

    stub.agent = stop
    work_on(Session.objects.get().pk)

    session, progress = Session.objects.get(), pilot_progress(pilot)
    assert (stub.asked.total(), ModelCall.objects.count(), Turn.objects.count()) == (1, 1, 0)
    assert (session.state, session.calls, session.agent_tokens) == (state, 1, 12)
    assert (progress.calls, progress.tokens, float(progress.cost)) == (1, 12, 0.01)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_paused_pilot_goes_on_where_it_was_without_paying_twice(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("one", "two")), task("b", intents=intents("three")))

    def pause_once(body: dict) -> str:
        if stub.asked["agent"] == 2:
            control_pilot(pilot.pk, "pause", by=None)
            connection.close()
        return "Done."

    stub.agent = pause_once
    work_through(pilot)
    paused = (pilot.state, Turn.objects.count(), stub.asked["agent"])

    pilot = control_pilot(pilot.pk, "resume", by=None)
    resumed = pilot.state
    work_through(pilot)

    assert (paused, resumed, pilot.state) == (("paused", 1, 2), "running", "finished")
    assert stub.asked.total() == ModelCall.objects.count() == pilot_progress(pilot).calls


@pytest.mark.slow
def test_retry_takes_up_what_failed_for_our_own_reasons_and_on_request_what_the_agent_failed(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("x")), task("b", intents=intents("y")))
    first, second = Session.objects.order_by("position")
    Session.objects.filter(pk=first.pk).update(state="failed", ended_at="2026-01-01T00:00Z", reason="Too long.")
    Session.objects.filter(pk=second.pk).update(state="error", attempts=2, reason="Down.")
    Pilot.objects.update(state="stopped")

    control_pilot(pilot.pk, "retry", by=None)
    assert set(Session.objects.values_list("state", "attempts")) == {("failed", 0), ("error", 0)}
    work_through(pilot)
    assert (pilot.state, Session.objects.get(pk=first.pk).state) == ("finished", "failed")

    control_pilot(pilot.pk, "retry", by=None, everything=True)
    work_through(pilot)
    assert (pilot.state, set(Session.objects.values_list("state", flat=True))) == ("finished", {"finished"})


@pytest.mark.parametrize(
    ("state", "action", "message"),
    [
        ("finished", "pause", "has finished"),
        ("cancelled", "resume", "was cancelled and cannot be resumed"),
        ("cancelled", "retry", "was cancelled and cannot be resumed"),
        ("stopped", "pause", "is stopped and cannot be paused"),
        ("running", "stop", "There is no “stop”"),
    ],
)
def test_action_that_the_state_does_not_allow_says_why(state: str, action: str, message: str):
    pilot = pilot_row()
    Pilot.objects.update(state=state)

    with pytest.raises(ControlError, match=message):
        control_pilot(pilot.pk, action, by=None)

    pilot.refresh_from_db()
    assert pilot.state == state


def test_command_and_api_answer_alike(client: Client, capsys: pytest.CaptureFixture[str]):
    pilot = pilot_row()
    client.force_login(person(pilot.benchmark, "author"))
    path = f"/api/pilots/{pilot.pk}/control/"

    call_command("pilot_control", str(pilot.pk), "pause", "--json")
    by_command = json.loads(capsys.readouterr().out)
    resumed = client.post(path, {"action": "resume"}, content_type="application/json").json()
    cancelled = client.post(path, {"action": "cancel"}, content_type="application/json").json()
    refused = client.post(path, {"action": "pause"}, content_type="application/json")
    with pytest.raises(SystemExit) as end:
        call_command("pilot_control", str(pilot.pk), "pause", "--json")

    assert by_command == {"pilot": pilot.pk, "state": "paused"}
    assert (resumed["state"], cancelled) == ("running", {"pilot": pilot.pk, "state": "cancelled"})
    assert (refused.status_code, "was cancelled" in refused.content.decode()) == (400, True)
    assert (end.value.code, json.loads(capsys.readouterr().out)["state"]) == (1, "cancelled")


@pytest.mark.slow
def test_pages_ask_before_a_pilot_is_cancelled_and_say_when_nothing_is_left_to_retry(client: Client):
    pilot = pilot_row()
    client.force_login(person(pilot.benchmark, "author"))
    page = f"/pilots/{pilot.pk}/"

    running = client.get(page).content.decode()
    Pilot.objects.update(state="finished")
    nothing = client.post(f"{page}retry/", follow=True).content.decode()

    assert "A cancelled pilot cannot be resumed." in " ".join(running.split())
    assert f"Cancel pilot {pilot.number}</button>" in running
    assert "No session is left to retry." in nothing and "Trying again" not in nothing


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_page_of_a_paused_pilot_does_not_wait_for_judgings_that_nobody_runs(client: Client, stub: StubModel):
    pilot = start(stub, task("a", intents=intents("one", "two")))

    def pause(body: dict) -> str:
        if stub.asked["agent"] == 2:
            control_pilot(pilot.pk, "pause", by=None)
            connection.close()
        return "Done."

    stub.agent = pause
    work_through(pilot)
    client.force_login(person(pilot.benchmark, "author"))

    page = " ".join(client.get(f"/pilots/{pilot.pk}/").content.decode().split())

    assert "1 judging not run yet." in page and 'hx-select="#judgings"' not in page


@pytest.mark.slow
def test_page_offers_what_the_state_allows(client: Client):
    pilot = pilot_row()
    client.force_login(person(pilot.benchmark, "author"))
    page = f"/pilots/{pilot.pk}/"

    running = client.get(page).content.decode()
    paused = client.post(f"{page}pause/", follow=True).content.decode()
    client.post(f"{page}resume/")
    pilot.refresh_from_db()

    assert "Pause</button>" in running and "Resume</button>" not in running
    assert "Resume</button>" in paused and "Nothing is sent to models until it is resumed" in paused
    assert pilot.state == "running"
