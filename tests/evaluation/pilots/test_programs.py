"""Whole pilots of agents that are programs in the sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.models import Pilot, Session, ToolCall
from evaluation.sandbox import why_unavailable
from tests.evaluation.agents.test_command import EXAMPLE
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    if words := why_unavailable():
        pytest.skip(words)


def start(stub: StubModel, *tasks: Any, persona: Any = None, **options: Any) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return pilot_of(benchmark_of(*tasks, persona=persona), agent=model, user_model=model, judge=model, **options)


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
