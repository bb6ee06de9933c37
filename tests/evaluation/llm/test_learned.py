"""A parameter that a service refuses by name is left out or renamed once, and that is remembered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from evaluation.llm import Endpoint, Learned, ModelClient, RequestRejectedError
from tests.evaluation.conftest import LOCAL
from tests.evaluation.llm.test_client import Notebook
from tests.evaluation.stub_model import StubModel

HELLO = [{"role": "user", "content": "?"}]
TOOL = {"type": "function", "function": {"name": "f", "strict": True, "parameters": {"type": "object"}}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": {"type": "object"}}}
BODY = {
    "model": "m",
    "messages": HELLO,
    "temperature": 0,
    "top_p": 1,
    "max_tokens": 9,
    "user": "u",
    "stream": True,
    "parallel_tool_calls": False,
    "tools": [TOOL],
    "response_format": SCHEMA,
    "reasoning_effort": "high",
}


@pytest.mark.parametrize(
    ("complaint", "facts"),
    [
        ("temperature Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is.",
         {"dropped": ["temperature"]}),
        ("invalid temperature: only 1 is allowed for this model", {"dropped": ["temperature"]}),
        ("max_tokens Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
         {"renamed": {"max_tokens": "max_completion_tokens"}}),
        ("Unrecognized request argument supplied: parallel_tool_calls", {"dropped": ["parallel_tool_calls"]}),
        ("body.user: Extra inputs are not permitted", {}),  # a word, too: not certainly the parameter's name
        ("user Unknown parameter: 'user'.", {"dropped": ["user"]}),
        ("stream Your organization must be verified to stream this model.", {"dropped": ["stream"]}),
        ("tools.0.function.strict: Extra inputs are not permitted", {"dropped": ["strict"]}),
        ("response_format json_schema is not supported.", {"json": "json_object"}),
        ("This model does not support structured outputs.", {"json": "json_object"}),
        ("max_tokens is too large: 131073", {}),
        ("top_p must be between 0 and 1", {}),
        ("Unsupported value: 'reasoning_effort' does not support 'high'.", {}),
        ("Messages must alternate between user and assistant.", {}),
        ("There is no model m.", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_what_is_refused_by_name_is_learned_and_nothing_else(complaint: str, facts: dict[str, Any]):
    stored: list[Mapping[str, Any]] = []
    learned = Learned(on_change=stored.append)

    learned.learn(BODY, complaint)

    assert learned.facts == facts == json.loads(json.dumps(facts))
    assert stored == ([facts] if facts else [])


def test_learned_facts_change_the_request_and_nothing_that_it_does_not_name():
    facts = {"dropped": ["forced tool_choice", "strict", "temperature"], "json": "json_object"}
    renamed = {"renamed": {"max_tokens": "max_completion_tokens"}}

    adapted = Learned({**facts, **renamed}).adapt({**BODY, "tool_choice": "required"})

    expected = {name: value for name, value in BODY.items() if name not in ("temperature", "max_tokens")}
    plain = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    assert adapted == {
        **expected, "max_completion_tokens": 9, "response_format": {"type": "json_object"}, "tools": [plain]
    }  # fmt: skip
    assert Learned(facts).adapt({"tool_choice": "none"}) == {"tool_choice": "none"}


@pytest.mark.parametrize(
    ("refused", "fact", "kept"),
    [
        ("auto", "tool_choice", []),
        ("none", "tool_choice", []),
        ("required", "forced tool_choice", ["auto", "none"]),
        ({"type": "function", "function": {"name": "f"}}, "forced tool_choice", ["auto", "none"]),
    ],
    ids=["auto", "none", "required", "one tool"],
)
def test_a_service_that_refuses_to_be_forced_to_a_tool_still_gets_the_choices_that_force_none(
    refused: Any, fact: str, kept: list[str]
):
    learned = Learned()

    learned.learn({**BODY, "tool_choice": refused}, "This model does not support this tool_choice.")

    assert learned.facts == {"dropped": [fact]}
    sent = [learned.adapt({**BODY, "tool_choice": choice}) for choice in ("auto", "none", "required", refused)]
    assert [body["tool_choice"] for body in sent if "tool_choice" in body] == kept


def test_json_mode_is_weakened_step_by_step():
    learned = Learned()
    for _ in range(3):
        learned.learn(learned.adapt(BODY) | {"response_format": SCHEMA}, "response_format is not supported")
    assert learned.facts == {"json": "json_object"}

    learned.learn(learned.adapt(BODY), "response_format is not supported")

    learned.learn(BODY, "response_format is not supported")  # of a call that was under way
    assert learned.facts == {"json": "text"}
    assert "response_format" not in learned.adapt(BODY)


def test_a_limit_of_length_that_is_refused_under_both_names_is_not_renamed_to_and_fro():
    learned = Learned()
    for name in ("max_tokens", "max_completion_tokens"):
        learned.learn({"model": "m", name: 9}, f"Unknown parameter: '{name}'.")

    assert learned.facts == {"renamed": {"max_tokens": "max_completion_tokens"}}


@pytest.fixture
def asked(stub: StubModel) -> list[dict[str, Any]]:
    """Requests to a model that takes no temperature."""

    def agent(body: dict[str, Any]) -> str | tuple[int, str]:
        if "temperature" in body:
            message = "Unsupported value: 'temperature' does not support 0 with this model."
            return 400, json.dumps({"error": {"message": message, "param": "temperature"}})
        return "Done."

    stub.agent = agent
    return stub.bodies


def test_refused_parameter_is_left_out_once_and_never_sent_again(stub: StubModel, asked: list[dict[str, Any]]):
    learned, notebook = Learned(), Notebook()
    endpoint = Endpoint("m", stub.base_url, "m", policy=LOCAL, learned=learned)
    for question in ("One?", "Two?"):
        client = ModelClient(endpoint, recorder=notebook)
        assert client.complete([{"role": "user", "content": question}], temperature=0).text == "Done."

    assert ["temperature" in body for body in asked] == [True, False, False]
    assert ["temperature" in call.request for call in notebook.calls] == [True, False, False]
    assert learned.facts == {"dropped": ["temperature"]}


def test_refusal_that_another_call_has_learned_of_meanwhile_is_no_failure(stub: StubModel, asked: list[dict[str, Any]]):
    learned = Learned()
    client = ModelClient(Endpoint("m", stub.base_url, "m", policy=LOCAL, learned=learned))
    refuse = stub.agent

    def agent(body: dict[str, Any]) -> Any:
        learned.learn(body, "'temperature' is not supported")
        return refuse(body)

    stub.agent = agent

    assert client.complete(HELLO, temperature=0).text == "Done."


def test_refusal_that_another_worker_met_is_known_before_the_next_call_is_sent(
    stub: StubModel, asked: list[dict[str, Any]]
):
    stored: dict[str, Any] = {}
    endpoint = Endpoint("m", stub.base_url, "m", policy=LOCAL, learned=Learned(elsewhere=lambda: stored))
    client = ModelClient(endpoint)
    stored["dropped"] = ["temperature"]

    assert client.complete(HELLO, temperature=0).text == "Done."
    assert ["temperature" in body for body in asked] == [False]


def test_what_other_workers_met_is_not_asked_for_where_the_record_answers(stub: StubModel):
    looks: list[int] = []
    learned = Learned(elsewhere=lambda: looks.append(1) or {})
    client = ModelClient(Endpoint("m", stub.base_url, "m", policy=LOCAL, learned=learned), recorder=Notebook())

    first, again = client.complete(HELLO), client.complete(HELLO)

    assert (first.replayed, again.replayed, len(looks)) == (False, True, 1)


def test_refusal_that_names_nothing_fails_at_once_with_the_services_sentence(stub: StubModel):
    stub.agent = lambda body: (400, json.dumps({"error": {"message": "Bad request."}}))
    client = ModelClient(Endpoint("m", stub.base_url, "m", policy=LOCAL))

    with pytest.raises(RequestRejectedError, match=r"m refused the request with status 400: Bad request\.") as refused:
        client.complete(HELLO, temperature=0)

    assert refused.value.hopeless and not refused.value.retryable
    assert len(stub.bodies) == 1


def test_service_that_refuses_to_stream_is_asked_without(stub: StubModel):
    def agent(body: dict[str, Any]) -> str | tuple[int, str]:
        if body.get("stream"):
            message = "Your organization must be verified to stream this model."
            return 400, json.dumps({"error": {"message": message, "param": "stream"}})
        return "Done."

    stub.agent = agent
    client = ModelClient(Endpoint("m", stub.base_url, "m", policy=LOCAL))

    assert [client.complete(HELLO).text, client.complete(HELLO).text] == ["Done.", "Done."]
    assert ["stream" in body for body in stub.bodies] == [True, False, False]
    assert "stream_options" not in stub.bodies[-1]
