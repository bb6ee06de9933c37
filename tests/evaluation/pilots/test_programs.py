"""Whole pilots of agents that are programs in the sandbox."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.models import Pilot, Session, ToolCall
from evaluation.results.pilot_report import pilot_report
from evaluation.sandbox import why_unavailable
from evaluation.tools.programs import nanobot_packages
from studio.local.paths import data_folder
from tests.evaluation.agents.test_command import EXAMPLE
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.pilots.test_apps import persona, writes_a_note
from tests.evaluation.stub_model import StubModel, decisions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    if words := why_unavailable():
        pytest.skip(words)


def start(stub: StubModel, *tasks: Any, persona: Any = None, **options: Any) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return pilot_of(benchmark_of(*tasks, persona=persona), agent=model, user_model=model, judge=model, **options)


@pytest.mark.slow
def test_example_of_the_documentation_runs_in_a_pilot_and_a_program_that_prints_rubbish_fails_its_session(
    stub: StubModel,
):
    told = intents("x", provided=(1,))
    tasks = [task("a", intents=told, assets=(file("notes.md", "Harbour"),), checklist=(rubric("y"),))]

    pilot = work_through(start(stub, *tasks, kind="command", params={"program": EXAMPLE}))
    broken = work_through(start(stub, *tasks, kind="command", params={"program": "print('\\x00{' * 9)"}))
    hostile = (
        "import json; print(json.dumps({'reply': 'a\\x00b\\ud800', 'state': '\\x00', 'did': [7, {'name': '\\x00'}]}))"
    )
    odd = work_through(start(stub, *tasks, kind="command", params={"program": hostile}))

    assert [each.state for each in (pilot, broken, odd)] == ["finished"] * 3
    [session] = Session.objects.filter(run__pilot=pilot)
    turn = session.turns.get()
    assert (turn.reply, sorted(turn.snapshot.manifest)) == ("Done.", ["answer.md", "notes.md"])
    assert ToolCall.objects.get(turn=turn).result == "notes.md"
    [spoken] = Session.objects.filter(run__pilot=odd)
    assert (spoken.state, spoken.turns.get().reply) == ("finished", "a\ufffdb?")
    [failed] = Session.objects.filter(run__pilot=broken)
    assert (failed.state, failed.reason) == (
        "failed",
        "The program failed. Its last line of output is no JSON object.",
    )


@pytest.fixture
def nanobot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_DATA_DIR", str(data_folder().parent))  # installed for the studio, not for its tests
    if nanobot_packages() is None:
        pytest.skip("nanobot is not installed: make nanobot-agent")


@pytest.mark.minutes
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("nanobot")
def test_nanobot_uses_the_apps_through_a_pilot_of_three_sessions(stub: StubModel):
    stub.agent = writes_a_note
    stub.satisfaction = lambda body: decisions(body, lambda index: True)
    told = {"intents": intents("x", provided=(1,)), "checklist": (rubric("y"),)}
    names = ("a", "b", "c")

    pilot = work_through(start(stub, *(task(name, **told) for name in names), persona=persona(), kind="nanobot"))

    reasons = list(Session.objects.values_list("position", "state", "reason"))
    assert pilot.state == "finished", reasons
    assert [session["state"] for session in pilot_report(pilot)["sessions"]] == ["finished"] * 3
    created = ToolCall.objects.filter(name="simple_note__create_note").order_by("turn__session__position")
    assert [json.loads(row.result)["response"]["note_id"] for row in created] == [1, 2, 3]
    offered = {entry["function"]["name"] for body in stub.bodies for entry in body.get("tools", ())}
    assert "simple_note__create_note" in offered
    assert not [name for name in offered if name.startswith("mcp_")]


@pytest.mark.minutes
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("nanobot")
def test_nanobot_with_the_scripted_model_ends_a_session():
    written = task("a", assets=(file("notes.md", "The harbour fee is due on Friday."),))

    pilot = work_through(pilot_of(benchmark_of(written), kind="nanobot", limits={"turns": 2}))

    report = pilot_report(pilot)
    assert report["scripted"] is True
    assert [(session["state"], session["turns"]) for session in report["sessions"]] == [("finished", 2)]
