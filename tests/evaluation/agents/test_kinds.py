"""Kinds of agents, each chosen as data."""

from __future__ import annotations

import re
import secrets
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.agents import AgentSetup, kinds, make_agent
from evaluation.agents.kinds import all_kinds, is_informed
from evaluation.models import Agent, ModelCall, Pilot, Session
from evaluation.pilots.agents import agent_of
from evaluation.releases.evidence import real_sessions
from evaluation.results.loading import agent_names
from evaluation.sandbox import why_unavailable
from studio.domain.options import OptionsError
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel

PAGE = Path(__file__).parents[3] / "docs/adding-an-agent.md"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_key")]


@pytest.fixture
def stub_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", "none")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))


def run(stub: StubModel, kind: str, *, workflow: str = "", benchmark: Benchmark | None = None, **options: Any) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    made = benchmark or benchmark_of(
        task("a", initial_request="Write the note.", checklist=(rubric("x"),), reference_workflow=workflow)
    )
    pilot = pilot_of(made, agent=model, user_model=model, judge=model, kind=kind, **options)
    return work_through(pilot)


def asked_of_agent(pilot: Pilot) -> list[dict[str, Any]]:
    calls = ModelCall.objects.filter(session__run__pilot=pilot, purpose="agent").order_by("pk")
    return [call.request for call in calls]


def test_a_model_alone_means_react(stub: StubModel):
    pilot = run(stub, "react")

    assert (pilot.configured_agent.kind, pilot.configured_agent.name) == ("react", pilot.agent.name)
    assert pilot.config["agent_kind"] == {"name": pilot.agent.name, "kind": "react", "params": {}}
    assert pilot.agent_name == pilot.agent.name


def test_a_no_op_asks_no_model_and_answers_each_turn(stub: StubModel):
    pilot = run(stub, "no-op", params={"text": "Nothing done."})

    session = Session.objects.get()
    assert (pilot.state, stub.asked["agent"]) == ("finished", 0)
    assert set(session.turns.values_list("reply", flat=True)) == {"Nothing done."}


@pytest.mark.slow
def test_an_over_asker_is_offered_no_tools(stub: StubModel):
    pilot = run(stub, "over-asker")

    first = asked_of_agent(pilot)[0]
    assert "never does any work" in first["messages"][0]["content"]
    assert not first.get("tools")
    assert agent_names([pilot]) == {pilot.pk: f"{pilot.agent.name} · over-asker"}


def test_an_endpoint_is_sent_only_what_is_new_and_which_conversation_it_belongs_to(stub: StubModel):
    call = {"id": "1", "type": "function", "function": {"name": "list_dir", "arguments": "{}"}}

    def program(body: dict[str, Any]) -> str | dict[str, Any]:
        if body["messages"][-1]["content"] == "Write the note.":
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        return "Done."

    stub.agent = program
    bodies = asked_of_agent(run(stub, "endpoint"))

    assert [[message["role"] for message in body["messages"]] for body in bodies] == [
        ["user"], ["tool"], ["user"], ["user"],
    ]  # fmt: skip
    assert len({body["user"] for body in bodies}) == 1
    assert bodies[0]["tools"]


@pytest.mark.slow
def test_a_program_in_the_sandbox_is_piloted_with_its_tools(stub: StubModel):
    if words := why_unavailable():
        pytest.skip(words)
    program = """
import json
line = json.loads(input())
if "results" in line:
    print(json.dumps({"reply": line["results"][0]["result"]}))
else:
    open("note.md", "w").write("The fee is 30.")
    print(json.dumps({"calls": [{"name": "exec", "arguments": {"command": "cat note.md"}}]}))
"""
    run(stub, "command", params={"program": program})

    session = Session.objects.get()
    call = session.turns.order_by("number").first().tool_calls.get()
    assert (session.state, stub.asked["agent"]) == ("finished", 0)
    assert (call.name, call.result, call.changes) == ("exec", "The fee is 30.", [])
    assert list(session.turns.order_by("number").first().snapshot.manifest) == ["note.md"]


@pytest.mark.slow
def test_the_oracle_alone_is_told_the_reference_workflow(stub: StubModel):
    told = run(stub, "oracle", workflow="Name the harbour fee of 30 crowns.")
    assert "30 crowns" in asked_of_agent(told)[0]["messages"][0]["content"]
    run(stub, "react", benchmark=told.benchmark)
    plain = Pilot.objects.get(number=2)
    assert all("30 crowns" not in str(body) for body in asked_of_agent(plain))


def test_no_other_kind_has_a_way_in_for_the_workflow(tmp_path: Path):
    assert [name for name in all_kinds() if is_informed(name)] == ["oracle"]
    assert not {"workflow", "task", "intents", "checklist"} & {field.name for field in fields(AgentSetup)}
    with pytest.raises(LookupError):
        make_agent(AgentSetup(client=None, workspace=tmp_path), "oracle")  # type: ignore[arg-type]  # never asked


@pytest.mark.parametrize(
    ("kind", "params", "field", "words"),
    [
        ("wizard", {}, "kind", "no agent “wizard”"),
        ("no-op", {"colour": "blue"}, "params", "no parameter “colour”"),
        ("oracle", {}, "kind", "no reference workflow"),
    ],
)
def test_an_agent_that_cannot_work_is_refused_with_the_reason(kind, params, field, words):
    with pytest.raises(OptionsError, match=words) as error:
        pilot_of(benchmark_of(task("a")), kind=kind, params=params)
    assert error.value.field == field


@pytest.mark.parametrize(("kind", "counted"), [("react", 1), ("no-op", 0), ("over-asker", 0)])
def test_only_systems_under_test_are_evidence(kind, counted):
    pilot = pilot_of(benchmark_of(task("a")), kind=kind)
    Pilot.objects.update(scripted=False, state="finished")
    Session.objects.update(state="finished")
    assert real_sessions(pilot.benchmark).count() == counted


def test_a_long_program_is_stored_and_found_again():
    program = secrets.token_urlsafe(15_000)  # which nothing compresses

    assert agent_of(endpoint("model"), "command", {"program": program}).params == {"program": program}
    assert Agent.objects.filter(kind="command").count() == 1


def test_equal_agents_share_a_row_and_a_pilot_keeps_its_own_as_it_was():
    model = endpoint("m")
    assert agent_of(model, "no-op", {"text": "Hm."}) == agent_of(model, "no-op", {"text": "Hm."})
    assert agent_of(model, "no-op").name != agent_of(model, "no-op", {"text": "Hm."}).name
    pilot = pilot_of(benchmark_of(task("a")), agent=model, kind="no-op", params={"text": "Hm."})
    Agent.objects.filter(pk=pilot.configured_agent_id).update(params={"text": "Other."}, name="renamed")
    pilot.refresh_from_db()
    assert pilot.config["agent_kind"]["params"] == {"text": "Hm."}
    assert pilot.agent_name.startswith("m · no-op")


def test_the_kind_is_chosen_on_the_page_and_in_the_api(client: Client):
    made = benchmark_of(task("a"))
    client.force_login(person(made, "owner"))
    ends = {part: endpoint(name) for part, name in
            (("agent", "scripted-helpful"), ("user_model", "scripted-user"), ("judge", "scripted-judge"))}  # fmt: skip
    page = client.get(f"/benchmarks/{made.slug}/pilots/new/").content.decode()
    assert all(kind.sentence in page for kind in all_kinds().values())

    client.post(
        f"/benchmarks/{made.slug}/pilots/new/",
        {part: row.name for part, row in ends.items()} | {"persona": "", "runs": 1, "kind": "over-asker"},
    )
    answer = client.post(
        "/api/pilots/",
        {part: row.name for part, row in ends.items()}
        | {"benchmark": made.slug, "kind": "no-op", "params": {"text": "Hm."}},
        content_type="application/json",
    )
    assert answer.status_code == 201, answer.content
    assert (answer.json()["kind"], answer.json()["agent"]) == ("no-op", "scripted-helpful · no-op")
    kinds_started = Pilot.objects.order_by("number").values_list("configured_agent__kind", flat=True)
    assert list(kinds_started) == ["over-asker", "no-op"]


@pytest.mark.usefixtures("registered")
def test_the_page_on_adding_an_agent_adds_one_that_runs(stub: StubModel):
    text = PAGE.read_text()
    assert len(text.splitlines()) < 60
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {"__name__": "one_shot"})

    pilot = run(stub, "one-shot", params={"system": "You are terse."})

    bodies = asked_of_agent(pilot)
    assert pilot.state == "finished"
    assert bodies[0]["messages"][0] == {"role": "system", "content": "You are terse."}
    assert len(bodies[1]["messages"]) == 4
