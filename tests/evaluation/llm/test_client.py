from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest

from evaluation.llm import (
    Budget,
    BudgetExceededError,
    Call,
    Endpoint,
    MissingKeyError,
    ModelClient,
    Policy,
    Prices,
    ServerError,
    UnreadableAnswerError,
)
from evaluation.llm.completion import read_answer
from evaluation.protocol.participants import Tokens
from evaluation.scripted.server import ScriptedServer
from tests.evaluation.conftest import LOCAL

HELLO = [{"role": "user", "content": "Write a plan."}]
ClientFactory = Callable[..., ModelClient]


class Notebook:
    """A recorder that keeps calls in memory."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        answers = (
            call.response for call in self.calls if call.request_hash == request_hash and call.response is not None
        )
        return next(answers, None)

    def check(self, worst: Decimal | None = None) -> None:
        pass

    def record(self, call: Call) -> None:
        self.calls.append(call)


def test_completion_has_text_tokens_and_cost(client_for: ClientFactory):
    client = client_for("scripted-silent", prices=Prices(Decimal(3), Decimal(15)))

    completion = client.complete(HELLO)

    assert completion.text == "Done."
    assert completion.finish_reason == "stop"
    assert not completion.replayed
    assert completion.tokens.prompt > 0
    assert completion.tokens.completion > 0
    spent = 3 * completion.tokens.prompt + 15 * completion.tokens.completion
    assert completion.cost == (Decimal(spent) / 1_000_000).quantize(Decimal("0.000001"))


def test_tool_calls_are_returned_verbatim(client_for: ClientFactory, scenario: Callable[..., None]):
    scenario({"tool_calls": [{"name": "read_file", "arguments": {"path": "a.md"}}]})

    completion = client_for("scripted-helpful").complete(HELLO)

    (call,) = completion.tool_calls
    assert (call.name, call.arguments) == ("read_file", '{"path": "a.md"}')
    assert completion.message["tool_calls"][0]["function"] == {"name": "read_file", "arguments": '{"path": "a.md"}'}


def test_recorded_answer_is_replayed(client_for: ClientFactory, scripted: ScriptedServer):
    notebook = Notebook()
    first = client_for("scripted-passive", recorder=notebook).complete(HELLO)

    second = client_for("scripted-passive", recorder=notebook).complete(HELLO)

    assert second.replayed
    assert (second.text, second.tokens, second.request_hash) == (first.text, first.tokens, first.request_hash)
    assert scripted.stats["requests"] == 1
    assert len(notebook.calls) == 1


def test_sequence_makes_a_new_call(client_for: ClientFactory, scripted: ScriptedServer):
    client = client_for("scripted-passive", recorder=Notebook())

    hashes = {client.complete(HELLO, sequence=number).request_hash for number in (0, 1)}

    assert len(hashes) == 2
    assert scripted.stats["requests"] == 2


def test_failed_calls_are_recorded_with_their_attempts(client_for: ClientFactory):
    notebook = Notebook()
    client = client_for("scripted-silent+500", recorder=notebook)

    with pytest.raises(ServerError):
        client.complete(HELLO)

    (call,) = notebook.calls
    assert (call.response, call.attempts, call.tokens, call.cost) == (None, 3, Tokens(), Decimal(0))
    assert call.error == "test failed with status 500: Something broke."


def test_spent_budget_stops_the_next_call_before_it_is_sent(client_for: ClientFactory, scripted: ScriptedServer):
    budget = Budget(max_calls=1)
    client = client_for("scripted-silent", budget=budget)
    completion = client.complete(HELLO)

    with pytest.raises(BudgetExceededError, match="limit of 1 model calls"):
        client.complete(HELLO)

    assert (budget.calls, budget.tokens) == (1, completion.tokens)
    assert scripted.stats["requests"] == 1


@pytest.mark.parametrize("limits", [{"max_tokens": 1}, {"max_cost": Decimal("0.000001")}])
def test_budget_limits_tokens_and_cost(client_for: ClientFactory, limits: dict[str, Any]):
    client = client_for("scripted-silent", budget=Budget(**limits), prices=Prices(Decimal(100), Decimal(100)))
    client.complete(HELLO)

    with pytest.raises(BudgetExceededError):
        client.complete(HELLO)


def test_replayed_calls_count_against_the_budget(client_for: ClientFactory):
    notebook, budget = Notebook(), Budget(max_calls=1)
    client_for("scripted-silent", recorder=notebook).complete(HELLO)
    client = client_for("scripted-silent", recorder=notebook, budget=budget)
    client.complete(HELLO)

    with pytest.raises(BudgetExceededError):
        client.complete(HELLO)


def test_endpoint_parameters_override_call_parameters(client_for: ClientFactory):
    notebook = Notebook()
    client = client_for("scripted-silent", recorder=notebook, params={"temperature": None, "seed": 7})

    client.complete(HELLO, temperature=0, top_p=1)

    assert notebook.calls[0].request == {"top_p": 1, "seed": 7, "model": "scripted-silent", "messages": HELLO}


def test_missing_key_names_its_variable_and_sends_nothing(
    client_for: ClientFactory, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MODELS_API_KEY", raising=False)
    client = client_for("scripted-silent", key_env="MODELS_API_KEY")

    with pytest.raises(MissingKeyError, match="environment variable MODELS_API_KEY, which is not set"):
        client.complete(HELLO)

    assert scripted.stats.get("requests", 0) == 0


def test_concurrent_requests_are_limited():
    from concurrent.futures import ThreadPoolExecutor

    from evaluation.llm import EndpointLimits

    # A server of its own: what another test left stalling would count as under way.
    with ScriptedServer(latency=0.02) as own:
        endpoint = Endpoint(
            "few", own.url, "scripted-silent", limits=EndpointLimits(10, max_concurrency=2), policy=LOCAL
        )

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: ModelClient(endpoint).complete(HELLO), range(12)))

        assert (own.stats["requests"], own.stats["max_in_flight"]) == (12, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"key_env": "HOME"}, "end in API_KEY"),
        ({"key_env": "OPENAI_API_KEY; echo"}, "end in API_KEY"),
        ({"key_env": "openai_api_key"}, "end in API_KEY"),
        ({"base_url": "file:///etc/passwd"}, "must begin with https://"),
        ({"base_url": "https://me:secret@models.example/v1"}, "holds a user or password"),
        ({"params": {"messages": []}}, "may not set messages"),
    ],
)
def test_invalid_endpoint_is_rejected(wrong: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        Endpoint(**{"name": "a", "base_url": "https://models.example/v1", "model": "m", **wrong})


def test_process_serves_the_scripted_model_itself():
    endpoint = Endpoint("scripted", "scripted:", "scripted-silent", scripted=True)

    completion = ModelClient(endpoint).complete(HELLO)

    assert completion.text == "Done."
    assert endpoint.address() == endpoint.address()


def test_configured_address_of_the_scripted_model_is_used():
    policy = Policy(scripted_url="http://models.internal:9/v1")

    assert Endpoint("scripted", "scripted:", "m", policy=policy).address() == "http://models.internal:9/v1"


def test_invalid_arguments_are_wrapped_in_the_conversation(client_for: ClientFactory):
    completion = client_for("scripted-silent+bad-arguments").complete(HELLO)

    assert completion.tool_calls[0].arguments == "{not json"
    assert completion.message["tool_calls"][0]["function"]["arguments"] == '{"not_json": "{not json"}'


def test_what_a_service_adds_to_a_call_is_sent_back():
    body = {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": "a", "function": {"name": "f"}, "extra_content": {"signature": "x"}, "index": 0}
                    ]
                }
            }
        ]
    }

    answer = read_answer(body)

    assert answer.tool_calls[0].entry == {
        "id": "a",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"signature": "x"},
        "index": 0,
    }
    assert answer.tokens == Tokens(None, None, untold=1)


@pytest.mark.parametrize(
    ("ids", "expected"), [("ab", ["a", "b"]), ("aa", ["a_0", "a_1"]), (["", ""], ["call_0", "call_1"])]
)
def test_calls_of_one_answer_have_ids_of_their_own(ids: Sequence[str], expected: list[str]):
    calls = [{"id": name, "function": {"name": "f", "arguments": {"a": 1}}} for name in ids]

    answer = read_answer({"choices": [{"message": {"tool_calls": calls}}]})

    assert [call.id for call in answer.tool_calls] == expected
    assert {call.arguments for call in answer.tool_calls} == {'{"a": 1}'}


@pytest.mark.parametrize(
    "body",
    [None, [], {}, {"choices": []}, {"choices": [3]}, {"choices": [{"message": None}]},
     {"choices": [{"message": {"tool_calls": 3}}]}, {"choices": [{"message": {"tool_calls": [{}]}}]}],
)  # fmt: skip
def test_body_without_completion_is_unreadable(body: Any):
    with pytest.raises(UnreadableAnswerError):
        read_answer(body)
