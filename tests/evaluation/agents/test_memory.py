"""What the built-in agent does with long conversations, and between sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.agents import AgentLimits, AgentSetup, make_agent
from evaluation.agents.consolidation import TRIES
from evaluation.agents.context import ContextBudget
from evaluation.agents.messages import write_record
from evaluation.llm import Endpoint, ModelClient
from evaluation.models import ModelCall, Session
from evaluation.pilots.agents import agent_of
from evaluation.workspaces.manifests import manifest_reader
from studio.domain.options import OptionsError
from studio.models import Blob
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.conftest import LOCAL
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel

MEMORY = {"history_entry": "The fee was set at 30.", "memory_update": "- The fee is 30.\n"}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def make(stub: StubModel, folder: Path, state: dict[str, Any] | None = None, **params: str) -> Any:
    client = ModelClient(Endpoint("stub", stub.base_url, "stub", policy=LOCAL))
    return make_agent(AgentSetup(client, folder, limits=AgentLimits(), params=params, state=state or {}))


def is_summary(body: dict[str, Any]) -> bool:
    return str(body["messages"][0]["content"]).startswith("You shorten the record")


def test_a_conversation_beyond_its_budget_is_summarised_and_goes_on(stub: StubModel, tmp_path: Path):
    (tmp_path / "long.txt").write_text("Clause. " * 300)

    def answer(body: dict[str, Any]) -> Any:
        if is_summary(body):
            return "They read long.txt."
        reads = sum(message["role"] == "assistant" for message in body["messages"])
        shortened = "They read long.txt." in body["messages"][0]["content"]
        return "Done." if shortened else call("read_file", path="long.txt") if reads < 9 else "Never shortened."

    stub.agent = answer
    reply = make(stub, tmp_path, context_tokens="2000").reply("Read everything.")

    summaries = [body for body in stub.bodies if is_summary(body)]
    messages = reply.state["messages"]
    assert (reply.text, len(summaries), len(reply.aside)) == ("Done.", 1, 1)
    assert reply.aside[0].text == "They read long.txt."
    assert "CALL: read_file" in summaries[0]["messages"][1]["content"]
    assert [message["role"] for message in messages] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert messages[1]["content"] == "Read everything."
    assert reply.tokens.total == 12 * len(stub.bodies)


def test_earlier_user_messages_stay_verbatim_after_a_summary(stub: StubModel, tmp_path: Path):
    stub.agent = lambda body: "In short." if is_summary(body) else "An answer. " * 400
    first = make(stub, tmp_path, context_tokens="1000").reply("The fee is 30.")
    second = make(stub, tmp_path, dict(first.state), context_tokens="1000").reply("And the term?")
    third = make(stub, tmp_path, dict(second.state), context_tokens="1000").reply("Thank you.")

    system, *rest = third.state["messages"]
    assert (len(second.aside), len(third.aside)) == (1, 1)
    assert "- The fee is 30.\n- And the term?\n" in system["content"]
    assert system["content"].count("In short.") == 1
    assert [message["role"] for message in rest] == ["user", "assistant"]


def test_without_a_budget_nothing_is_summarised_and_the_state_is_as_before(stub: StubModel, tmp_path: Path):
    reply = make(stub, tmp_path).reply("Hello.")

    assert (len(stub.bodies), reply.aside, "context" in reply.state) == (1, (), False)


@pytest.mark.parametrize("takes_forced_choice", [True, False])
def test_a_session_is_consolidated_into_memory_and_log(stub: StubModel, tmp_path: Path, takes_forced_choice: bool):
    (tmp_path / "HISTORY.md").write_text("Earlier.\n\n")

    def answer(body: dict[str, Any]) -> Any:
        if "memory consolidation" not in body["messages"][0]["content"]:
            return "The fee is 30."
        if "tool_choice" in body and not takes_forced_choice:
            return 400, '{"error": {"message": "tool_choice must be auto"}}'
        return call("save_memory", **MEMORY)

    stub.agent = answer
    agent = make(stub, tmp_path, memory="consolidated")
    agent.reply("What is the fee?")
    aside = agent.close()

    assert (tmp_path / "MEMORY.md").read_text() == MEMORY["memory_update"]
    assert (tmp_path / "HISTORY.md").read_text() == "Earlier.\n\nThe fee was set at 30.\n\n"
    assert [each.text for each in aside] == [MEMORY["history_entry"], MEMORY["memory_update"]]
    prompt = stub.bodies[-1]["messages"][1]["content"]
    assert "USER: What is the fee?\nASSISTANT: The fee is 30." in prompt


def test_a_model_that_never_saves_leaves_the_conversation_in_the_log(stub: StubModel, tmp_path: Path):
    agent = make(stub, tmp_path, memory="consolidated")
    agent.reply("What is the fee?")
    agent.close()

    assert len(stub.bodies) == 1 + TRIES
    assert (tmp_path / "HISTORY.md").read_text().startswith("[RAW] 3 messages\nUSER: What is the fee?")


def test_an_agent_with_its_own_memory_does_nothing_between_sessions(stub: StubModel, tmp_path: Path):
    agent = make(stub, tmp_path)
    agent.reply("Hello.")

    assert (agent.close(), len(stub.bodies)) == ((), 1)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("stub_key")
def test_the_next_session_finds_what_was_consolidated_and_the_last_one_costs_nothing(stub: StubModel, client: Client):
    def answer(body: dict[str, Any]) -> Any:
        is_work = "memory consolidation" in body["messages"][0]["content"]
        return call("save_memory", **MEMORY) if is_work else "Done."

    stub.agent = answer
    stub.satisfaction = lambda body: json.dumps(
        {"decisions": [{"index": 1, "decision": "YES", "quote": "Done", "reason": "So."}]}
    )
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    made = benchmark_of(
        task("a", intents=intents("x"), checklist=(rubric("x"),)), task("b", intents=intents("y"), files_read=())
    )
    pilot = work_through(
        pilot_of(made, agent=model, user_model=model, judge=model, kind="react", params={"memory": "consolidated"})
    )

    first, second = Session.objects.filter(run__pilot=pilot).order_by("position")
    calls = ModelCall.objects.filter(purpose="agent").order_by("pk")
    assert (pilot.state, [(row.session_id, row.turn) for row in calls]) == (
        "finished",
        [(first.pk, 1), (first.pk, 2), (second.pk, 1)],
    )
    assert [each["text"] for each in first.closing] == list(MEMORY.values())
    assert (second.left, second.closing) == (None, [])
    assert manifest_reader(first.left.manifest, Blob.objects.read)("MEMORY.md") == MEMORY["memory_update"].encode()
    assert first.turns.get().snapshot.manifest.keys() == first.left.manifest.keys() - {"MEMORY.md", "HISTORY.md"}
    assert "- The fee is 30." in calls[2].request["messages"][0]["content"]
    client.force_login(person(made, "reviewer"))
    page = client.get(first.get_absolute_url()).content.decode()
    assert "After the session" in page and "The fee was set at 30." in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("params", "said"),
    [({"memory": "none"}, "“memory” is “own” or “consolidated”"), ({"context_tokens": "many"}, "is a whole number")],
)
def test_invalid_parameter_is_rejected_with_the_reason(params: dict[str, str], said: str):
    with pytest.raises(OptionsError, match=said):
        agent_of(endpoint("model"), "react", params)


@pytest.fixture
def stub_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", "none")


def test_pictures_count_little_and_are_recorded_as_text():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 900_000}}
    shown = {"role": "user", "content": [{"type": "text", "text": "a.png:"}, picture]}
    messages = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "Yes."}, shown]

    assert write_record(messages) == "USER: Look.\nASSISTANT: Yes.\nSHOWN: a.png: [picture]"
    assert ContextBudget(2_000, {}).shorten(messages, lambda asked: pytest.fail("It is short.")) is None


@pytest.mark.parametrize("thoughts", ["<think>Hm.</think>\n", [{"type": "thinking", "thinking": "Hm."}]])
def test_what_is_summarised_or_remembered_of_a_conversation_has_no_thoughts(thoughts: Any):
    content = f"{thoughts}Yes." if isinstance(thoughts, str) else [*thoughts, {"type": "text", "text": "Yes."}]
    answer = {"role": "assistant", "content": content, "reasoning_content": "Hm."}

    assert write_record([{"role": "user", "content": "Look."}, answer]) == "USER: Look.\nASSISTANT: Yes."
