from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.agents import AgentLimits, AgentSetup, make_agent
from evaluation.agents.briefing import HELPER
from evaluation.agents.messages import NOBODY
from evaluation.agents.react import OMITTED_PICTURE, OMITTED_RESULT
from evaluation.agents.turn import GO_ON, SAID_NOTHING
from evaluation.llm import (
    Budget,
    Completion,
    Endpoint,
    ModelClient,
    Prices,
    RequestedToolCall,
    RequestRejectedError,
    ServerError,
)
from evaluation.protocol.participants import Agent, AgentError, Remark, Tokens
from evaluation.scripted.server import ScriptedServer
from studio.domain.opening_message import EnvironmentEvent
from tests.evaluation.conftest import LOCAL, Clock
from tests.evaluation.llm.test_client import Notebook
from tests.evaluation.stub_model import StubModel
from tests.studio.files.previews.samples import a_png

ClientFactory = Callable[..., ModelClient]
SetRules = Callable[..., None]
MakeAgent = Callable[..., Agent]


@pytest.fixture
def agent(client_for: ClientFactory, tmp_path: Path, clock: Clock) -> MakeAgent:
    """An agent over an empty workspace; keywords go to its limits, or to its setup if it has them."""

    def make(
        model: str = "scripted-silent",
        *,
        client: Any = None,
        state: dict[str, Any] | None = None,
        loop: int = 2,
        **limits: Any,
    ):
        return make_agent(
            AgentSetup(
                client or client_for(model),
                tmp_path,
                limits=AgentLimits(**limits),
                state=state or {},
                timing=clock.timing,
                loop=loop,
            )
        )

    return make


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_agent_calls_tools_until_it_answers(agent: MakeAgent, scenario: SetRules, tmp_path: Path):
    scenario(
        {"when": {"step": 1}, "tool_calls": [call("write_file", path="plan.md", content="Go."), call("list_dir")]},
        {"when": {"step": 2}, "tool_calls": [call("read_file", path="plan.md")]},
        {"when": {"step": 3}, "reply": "The plan is written."},
    )

    reply = agent().reply("Write a plan.")

    assert reply.text == "The plan is written."
    assert reply.note == ""
    assert [(record.name, record.result, record.ok) for record in reply.tool_calls] == [
        ("write_file", "Wrote 3 bytes to plan.md.", True),
        ("list_dir", "plan.md", True),
        ("read_file", "Go.", True),
    ]
    assert reply.tokens.prompt > 0
    assert (tmp_path / "plan.md").read_text() == "Go."


def test_what_was_scheduled_and_is_due_comes_before_the_first_message(agent: MakeAgent, tmp_path: Path):
    due = {"id": "job-1", "message": "Call Ada", "at": "2026-04-12T10:00"}
    (tmp_path / "schedule.json").write_text(json.dumps({"jobs": [due]}))

    first = agent().reply("Good morning.")
    second = agent(state=first.state).reply("And now?")

    [opening] = [each["content"] for each in first.state["messages"] if each["role"] == "user"]
    event, request = opening.split("\n\n[The user writes]\n")
    assert event.startswith("[Environment signal: schedule]") and "Call Ada" in event
    assert request == "Good morning."
    assert [aside.title for aside in first.aside] == ["What it had scheduled came due"]
    assert second.aside == ()


def test_each_tool_result_follows_its_call(client_for: ClientFactory, agent: MakeAgent, scenario: SetRules):
    scenario({"when": {"step": 1}, "tool_calls": [call("list_dir"), call("fly")]}, {"reply": "Done."})
    notebook = Notebook()

    agent(client=client_for("scripted-silent", recorder=notebook)).reply("Look around.")

    assistant, *results = notebook.calls[1].request["messages"][-3:]
    ids = [asked["id"] for asked in assistant["tool_calls"]]
    assert [(message["tool_call_id"], message["content"].split(".")[0]) for message in results] == [
        (ids[0], "[the folder is empty]"),
        (ids[1], "Error: There is no tool 'fly'"),
    ]


@pytest.mark.parametrize("fault", ["bad-arguments", "unknown-tool"])
def test_invalid_tool_calls_are_reported_to_the_model(agent: MakeAgent, fault: str):
    reply = agent(f"scripted-silent+{fault}x2").reply("Write a plan.")

    assert reply.text == "Done."
    assert [record.ok for record in reply.tool_calls] == [False, False]


def test_model_is_asked_for_a_final_answer_at_the_tool_limit(agent: MakeAgent, scripted: ScriptedServer):
    reply = agent("scripted-silent+endlessx5", tool_calls=5).reply("Write a plan.")

    assert reply.text == "Done."
    assert reply.note == "The limit of 5 tool calls in a turn was reached."
    assert len(reply.tool_calls) == 5
    assert scripted.stats["requests"] == 6


def test_tool_calls_in_the_final_answer_are_not_made(agent: MakeAgent, scripted: ScriptedServer):
    first = agent("scripted-silent+endless", tool_calls=3)

    reply = first.reply("Write a plan.")

    assert reply.text == ""
    assert len(reply.tool_calls) == 3
    assert scripted.stats["requests"] == 4
    assert [message["role"] for message in reply.state["messages"][-2:]] == ["tool", "assistant"]


def test_calls_beyond_the_limit_in_one_message_are_answered_but_not_made(
    agent: MakeAgent, scenario: SetRules, tmp_path: Path
):
    scenario(
        {
            "when": {"step": 1},
            "tool_calls": [call("write_file", path=f"{number}.md", content="x") for number in range(4)],
        },
        {"reply": "Done."},
    )

    reply = agent(tool_calls=2).reply("Write.")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.md", "1.md"]
    assert (reply.text, len(reply.tool_calls)) == ("Done.", 2)
    results = [message for message in reply.state["messages"] if message["role"] == "tool"]
    assert [result["content"][:17] for result in results[2:]] == ["Error: not called"] * 2


@pytest.mark.parametrize(
    ("limits", "note", "calls"),
    [
        ({"model_calls": 3}, "The limit of 3 model calls in a turn was reached.", 3),
        ({"turn_tokens": 1}, "The limit of 1 tokens in a turn was reached.", 1),
        ({"tokens": 1}, "The limit of 1 tokens in a session was reached.", 1),
        ({"turn_cost": Decimal("0.000001")}, "The cost limit of 0.000001 in a turn was reached.", 1),
        ({"cost": Decimal("0.000001")}, "The cost limit of 0.000001 in a session was reached.", 1),
    ],
)
def test_each_limit_ends_the_turn_with_a_note(
    agent: MakeAgent, client_for: ClientFactory, scripted: ScriptedServer, limits: dict[str, Any], note: str, calls: int
):
    client = client_for("scripted-silent+endless", prices=Prices(Decimal(100), Decimal(100)))

    reply = agent(client=client, **limits).reply("Write a plan.")

    assert reply.note == note
    assert scripted.stats["requests"] == calls


def test_spent_budget_ends_the_turn_with_a_note(agent: MakeAgent, client_for: ClientFactory):
    reply = agent(client=client_for("scripted-silent+endless", budget=Budget(max_calls=2))).reply("Write a plan.")

    assert reply.note == "The limit of 2 model calls is reached."
    assert len(reply.tool_calls) == 2


def test_time_limit_ends_the_turn(agent: MakeAgent, scenario: SetRules, clock: Clock, scripted: ScriptedServer):
    scenario({"when": {"step": 1}, "do": "429", "retry_after": 20, "times": 1}, {"tool_calls": [call("list_dir")]})

    reply = agent(turn_seconds=20).reply("Write a plan.")

    assert reply.note == "The limit of 20 seconds for a turn was reached."
    assert scripted.stats["requests"] == 2


def test_session_resumes_from_its_state(agent: MakeAgent, scenario: SetRules, client_for: ClientFactory):
    scenario(
        {"when": {"turn": 1, "step": 1}, "tool_calls": [call("list_dir")]},
        {"when": {"turn": 1}, "reply": "First."},
        {"when": {"turn": 2}, "reply": "Second."},
    )
    first = agent().reply("One.")
    state = json.loads(json.dumps(first.state))
    notebook = Notebook()

    second = agent(client=client_for("scripted-silent", recorder=notebook), state=state).reply("Two.")

    assert second.text == "Second."
    sent = notebook.calls[0].request["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert second.state["tokens"] == first.tokens.total + second.tokens.total


def test_session_limits_span_turns(agent: MakeAgent):
    first = agent().reply("One.")

    second = agent(state=dict(first.state), tokens=first.tokens.total).reply("Two.")

    assert second.text == ""
    assert second.note == f"The limit of {first.tokens.total} tokens in a session was reached."


def test_turn_can_be_repeated_after_an_infrastructure_failure(
    agent: MakeAgent, client_for: ClientFactory, scripted: ScriptedServer
):
    notebook = Notebook()
    first = agent().reply("One.")
    with pytest.raises(ServerError):
        agent("scripted-silent+500", state=dict(first.state)).reply("Two.")

    repeated = agent(client=client_for("scripted-silent", recorder=notebook), state=dict(first.state)).reply("Two.")

    assert repeated.text == "Done."
    assert [message["role"] for message in notebook.calls[0].request["messages"]].count("user") == 2


def test_answered_calls_of_an_interrupted_turn_are_replayed(
    agent: MakeAgent, scenario: SetRules, client_for: ClientFactory, scripted: ScriptedServer
):
    scenario(
        {"when": {"step": 1}, "tool_calls": [call("write_file", path="a.md", content="x")]},
        {"when": {"step": 2}, "do": "500", "times": 3},
        {"reply": "Done."},
    )
    notebook = Notebook()
    with pytest.raises(ServerError):
        agent(client=client_for("scripted-silent", recorder=notebook)).reply("One.")
    assert scripted.stats["requests"] == 4

    reply = agent(client=client_for("scripted-silent", recorder=notebook)).reply("One.")

    assert reply.text == "Done."
    assert scripted.stats["requests"] == 5


def test_oldest_results_are_cut_first_when_the_context_is_full(agent: MakeAgent, scenario: SetRules, tmp_path: Path):
    (tmp_path / "long.md").write_text("x" * 1_000)
    scenario(
        {"when": {"step": 7}, "do": "context", "times": 1},
        {"when": {"step": 7}, "reply": "Done."},
        {"tool_calls": [call("read_file", path="long.md")]},
    )

    reply = agent().reply("Read it.")

    results = [message["content"] for message in reply.state["messages"] if message["role"] == "tool"]
    assert reply.text == "Done."
    assert results == [OMITTED_RESULT] * 2 + ["x" * 1_000] * 4
    assert [len(record.result) for record in reply.tool_calls] == [1_000] * 6


def test_conversation_that_stays_too_long_is_the_agents_failure(agent: MakeAgent):
    with pytest.raises(AgentError, match="longer than the model can read"):
        agent("scripted-silent+context").reply("One.")


@pytest.mark.parametrize(("loop", "asked"), [(1, 1), (2, 2)])
def test_empty_answer_is_asked_for_once_more_and_then_noted(
    agent: MakeAgent, scripted: ScriptedServer, loop: int, asked: int
):
    reply = agent("scripted-silent+empty", loop=loop).reply("One.")

    assert (reply.text, reply.note) == ("", "The model said nothing.")
    assert scripted.stats["requests"] == asked


def test_words_asked_for_after_an_empty_answer_are_the_reply(agent: MakeAgent, scenario: SetRules):
    scenario({"when": {"step": 1}, "reply": ""}, {"reply": "Here it is."})

    reply = agent().reply("One.")

    assert (reply.text, reply.note) == ("Here it is.", "")
    [notice] = [each["content"] for each in reply.state["messages"] if each["role"] == "user"][1:]
    assert notice == SAID_NOTHING


@pytest.mark.parametrize(
    ("loop", "text", "beside"), [(1, "", ["Let me see.", "It is written."]), (2, "It is written.", ["Let me see."])]
)
def test_words_beside_the_last_calls_are_the_reply_if_nothing_follows(
    agent: MakeAgent, scenario: SetRules, loop: int, text: str, beside: list[str]
):
    scenario(
        {"when": {"step": 1}, "reply": "Let me see.", "tool_calls": [call("list_dir")]},
        {"when": {"step": 2}, "reply": "It is written.", "tool_calls": [call("write_file", path="a", content="x")]},
        {"reply": ""},
    )

    reply = agent(loop=loop).reply("Write.")

    assert (reply.text, [remark.text for remark in reply.remarks]) == (text, beside)


def test_all_that_was_said_in_a_turn_is_kept_with_its_place_among_the_calls(agent: MakeAgent, scenario: SetRules):
    scenario(
        {"when": {"step": 1}, "reply": "Let me see.", "tool_calls": [call("list_dir"), call("list_dir")]},
        {"when": {"step": 2}, "reply": "Now I write.", "tool_calls": [call("write_file", path="a", content="x")]},
        {"reply": "Done."},
    )

    reply = agent().reply("Write.")

    assert (reply.text, reply.remarks) == ("Done.", (Remark("Let me see.", 0), Remark("Now I write.", 2)))


def test_reply_that_was_cut_off_is_gone_on_with(agent: MakeAgent, stub: StubModel):
    parts = iter(["The letter says", "that the fee is 30", "."])

    def answer(body: dict[str, Any]) -> Any:
        text = next(parts)
        return {"role": "assistant", "content": text, "finish_reason": "stop" if text == "." else "length"}

    stub.agent = lambda body: finished(answer(body))
    reply = agent(client=ModelClient(Endpoint("stub", stub.base_url, "stub", policy=LOCAL))).reply("What?")

    assert (reply.text, reply.note, reply.remarks) == ("The letter says that the fee is 30.", "", ())
    assert [each["content"] for each in reply.state["messages"] if each["role"] == "user"][1:] == [GO_ON, GO_ON]


def test_helper_is_told_that_it_is_one(agent: MakeAgent, stub: StubModel):
    def answer(body: dict[str, Any]) -> Any:
        if body["messages"][-1]["content"] == "Count the files.":
            return "Three." if HELPER in body["messages"][0]["content"] else "Who am I?"
        if body["messages"][-1]["role"] == "tool":
            return body["messages"][-1]["content"]
        function = {"name": "spawn", "arguments": json.dumps({"task": "Count the files."})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        }

    stub.agent = answer

    reply = agent(client=ModelClient(Endpoint("stub", stub.base_url, "stub", policy=LOCAL))).reply("How many?")

    assert reply.text == "Three."
    assert HELPER not in reply.state["messages"][0]["content"]


def finished(message: dict[str, Any]) -> dict[str, Any]:
    """A whole answer, so that its end can be chosen."""
    choice = {"index": 0, "finish_reason": message.pop("finish_reason"), "message": message}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice], "usage": None}


STEPS = st.lists(
    st.sampled_from(
        [
            {"reply": "Done."},
            {"reply": ""},
            {"tool_calls": [call("list_dir")]},
            {"tool_calls": [call("list_dir"), call("fly"), call("read_file", path="../x")]},
            {"reply": "Writing.", "tool_calls": [call("write_file", path="a.md", content="x")]},
            {"tool_calls": [call("list_dir")], "do": "bad-arguments"},
            {"do": "context"},
            {"reply": "Well.", "tool_calls": [call("ask_user", question="Which?"), call("list_dir")]},
        ]
    ),
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, tool_calls=st.integers(1, 6), model_calls=st.integers(1, 6), loop=st.integers(1, 2))
def test_conversation_stays_valid_whatever_the_model_does(
    agent: MakeAgent, scenario: SetRules, steps: list[dict[str, Any]], tool_calls: int, model_calls: int, loop: int
):
    scenario(*({**step, "times": 1} for step in steps))
    state: dict[str, Any] = {}

    for message in ("One.", "Two.", "Three."):
        try:
            reply = agent(state=state, loop=loop, tool_calls=tool_calls, model_calls=model_calls).reply(message)
        except AgentError:
            return
        state = json.loads(json.dumps(reply.state))

        assert len(reply.tool_calls) <= tool_calls
        assert_well_formed(state["messages"], asked=state.get("asked", ""))


def assert_well_formed(messages: list[dict[str, Any]], asked: str) -> None:
    """System, then turns: a user's message, steps each with the results of its calls in order, an answer."""
    roles = [message["role"] for message in messages]
    assert roles[:2] == ["system", "user"]
    assert roles[-1] == "assistant" or asked
    pending: list[str] = []
    for before, message in pairwise(messages):
        if message["role"] == "tool":
            pending.remove(message["tool_call_id"])
            continue
        assert pending == []
        pending = [asked["id"] for asked in message.get("tool_calls", ())]
        assert all(
            isinstance(json.loads(asked["function"]["arguments"]), dict) for asked in message.get("tool_calls", ())
        )
        assert message["role"] != "user" or before["role"] in ("system", "assistant", "tool")
    assert pending == ([asked] if asked else [])


def test_unknown_agent_kind_is_named_in_the_error(client_for: ClientFactory, tmp_path: Path):
    with pytest.raises(LookupError, match="There is no agent 'other'; there are command, endpoint"):
        make_agent(AgentSetup(client_for("scripted-silent"), tmp_path), "other")


@pytest.mark.parametrize(("loop", "told"), [(1, 0), (2, 1)])
def test_an_agent_without_recorded_pages_is_told_that_there_is_no_network(agent: MakeAgent, loop: int, told: int):
    state = agent(loop=loop).reply("Plan the trip.").state

    assert state["messages"][0]["content"].count("There is no network") == told


@pytest.mark.parametrize("loop", [1, 2])
def test_turn_ends_with_the_question_asked(agent: MakeAgent, scenario: SetRules, loop: int):
    asked = [call("message", content="I looked."), call("ask_user", question="Which month?"), call("list_dir")]
    scenario({"when": {"step": 1, "turn": 1}, "tool_calls": asked}, {"reply": "May it is."})
    first = agent(loop=loop)

    reply = first.reply("Plan the trip.")
    later = agent(loop=loop, state=json.loads(json.dumps(reply.state))).reply("May.")

    assert (reply.text, reply.note) == ("I looked.\n\nWhich month?", "")
    assert later.text == "May it is."
    question, *results = later.state["messages"][2:-1]
    ids = [each["id"] for each in question["tool_calls"]]
    if loop == 1:
        assert [message["role"] for message in results] == ["tool", "tool", "tool", "assistant", "user"]
    else:
        assert [message["tool_call_id"] for message in results] == [ids[0], ids[2], ids[1]]
        assert results[-1]["content"] == "May."


def test_what_comes_beside_a_question_follows_its_answer(agent: MakeAgent, scenario: SetRules):
    asked = [call("spawn", task="Count.", background=True), call("ask_user", question="Which month?")]
    scenario(
        {"when": {"request": "Count."}, "reply": "Three."},
        {"when": {"step": 1, "turn": 1}, "tool_calls": asked},
        {"reply": "May."},
    )

    reply = agent().reply("Plan the trip.")
    later = agent(state=json.loads(json.dumps(reply.state))).reply("May.")

    answered, event = later.state["messages"][-3:-1]
    assert (answered["role"], answered["content"]) == ("tool", "May.")
    assert event["content"].startswith("[Environment signal: helpers]") and "Three." in event["content"]
    assert_well_formed(later.state["messages"], asked="")


def test_picture_read_is_shown_to_the_model(
    client_for: ClientFactory, agent: MakeAgent, scenario: SetRules, tmp_path: Path
):
    (tmp_path / "a.png").write_bytes(a_png())
    scenario({"when": {"step": 1}, "tool_calls": [call("read_file", path="a.png")]}, {"reply": "A dot."})
    notebook = Notebook()

    reply = agent(client=client_for("scripted-silent", recorder=notebook)).reply("What is on it?")

    shown = notebook.calls[1].request["messages"][-1]
    assert (reply.text, shown["role"]) == ("A dot.", "user")
    assert shown["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_model_that_takes_no_pictures_goes_on_without(agent: MakeAgent, client_for: ClientFactory, tmp_path: Path):
    (tmp_path / "a.png").write_bytes(a_png())

    class Blind:
        def __init__(self) -> None:
            self.sent: list[Any] = []
            self.endpoint = client_for("scripted-silent").endpoint

        def complete(self, messages: Any, **params: Any) -> Completion:
            self.sent.append([message["content"] for message in messages])
            if any(isinstance(message["content"], list) for message in messages):
                raise RequestRejectedError("no pictures")
            asked = (RequestedToolCall("1", "read_file", '{"path": "a.png"}'),) if len(self.sent) == 1 else ()
            return Completion("" if asked else "Cannot see it.", asked, "stop", Tokens(), Decimal(0), "", False)

    blind = Blind()

    assert agent(client=blind).reply("What is on it?").text == "Cannot see it."
    assert blind.sent[-1][-1] == OMITTED_PICTURE


def test_helper_works_with_the_same_files_and_its_calls_count(agent: MakeAgent, scenario: SetRules, tmp_path: Path):
    scenario(
        {
            "when": {"request": "Count", "step": 1},
            "tool_calls": [call("write_file", path="n", content="3"), call("spawn")],
        },
        {"when": {"request": "Count"}, "reply": "There are 3."},
        {"when": {"step": 1}, "tool_calls": [call("spawn", task="Count the files.")]},
        {"reply": "Three."},
    )

    reply = agent().reply("How many?")

    assert reply.text == "Three."
    assert [(record.name, record.result.split(".")[0]) for record in reply.tool_calls] == [
        ("spawn", "There are 3"),
        ("write_file", "Wrote 1 bytes to n"),
        ("spawn", "Error: There is no tool 'spawn'"),
    ]
    assert (tmp_path / "n").read_text() == "3"


def test_helper_in_the_background_is_heard_before_the_turn_ends(agent: MakeAgent, stub: StubModel):
    def answer(body: dict[str, Any]) -> Any:
        said = [str(message["content"]) for message in body["messages"]]
        if "Count the files." in said:
            return "There are 3."
        if any("There are 3." in text for text in said):
            return "Three."
        if body["messages"][-1]["role"] == "tool":
            return "It is being counted."
        function = {"name": "spawn", "arguments": json.dumps({"task": "Count the files.", "background": True})}
        calls = [{"id": "1", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    stub.agent = answer
    reply = agent(client=ModelClient(Endpoint("stub", stub.base_url, "stub", policy=LOCAL))).reply("How many?")

    assert (reply.text, reply.remarks) == ("Three.", (Remark("It is being counted.", 1),))
    assert [record.name for record in reply.tool_calls] == ["spawn"]
    [event] = [each["content"] for each in reply.state["messages"] if each["role"] == "user"][1:]
    assert event.startswith("[Environment signal: helpers]")
    assert '"helper-1": "There are 3."' in event


def test_an_event_is_marked_as_one_with_its_authors_words_apart(agent: MakeAgent):
    reply = agent().reply(EnvironmentEvent("feed", {"n": 1}, "Sort them by date."))

    assert reply.state["messages"][1] == {
        "role": "user",
        "content": "[Environment signal: feed] New entries appeared in a feed you watch. This is an event: the user "
        'has not written to you.\n\nIts data:\n```json\n{\n  "n": 1\n}\n```\n\n'
        "Its text:\n<text>\nSort them by date.\n</text>",
    }


@pytest.mark.parametrize("takes_system_events", [True, False])
def test_in_the_first_loop_an_event_is_sent_by_the_system_or_marked_where_only_users_are_answered(
    agent: MakeAgent, stub: StubModel, takes_system_events: bool
):
    def answer(body: dict[str, Any]) -> Any:
        roles = [message["role"] for message in body["messages"]]
        return "Seen." if takes_system_events or "user" in roles else (400, '{"error": {"message": "no user query"}}')

    stub.agent = answer
    client = ModelClient(Endpoint("stub", stub.base_url, "stub", policy=LOCAL))
    reply = agent(client=client, loop=1).reply(EnvironmentEvent("feed", {"n": 1}))

    opening = reply.state["messages"][1]
    assert reply.text == "Seen."
    assert opening["role"] == ("system" if takes_system_events else "user")
    assert opening["content"].startswith("[Environment signal: feed]" if takes_system_events else NOBODY)
