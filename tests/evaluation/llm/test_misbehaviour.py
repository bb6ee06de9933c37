"""The client at a server that misbehaves, as real ones were seen to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from evaluation.llm import Endpoint, EndpointLimits, Learned, ModelClient, Prices, RetryPolicy
from evaluation.llm.errors import (
    ContentFilteredError,
    EndpointError,
    EndpointTimeoutError,
    QuotaExceededError,
    RequestRejectedError,
    UnreadableAnswerError,
)
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.prompts import checklist_prompt
from tests.evaluation.conftest import LOCAL, Clock
from tests.zoo.server import Zoo, playing
from tests.zoo.services.plain import Plain
from tests.zoo.test_services import TOOLS

HELLO = [{"role": "system", "content": "You are an assistant."}, {"role": "user", "content": "Please write a note."}]
NOTE = "Note 1 is in notes/turn-1.md."
BOTH = pytest.mark.parametrize("stream", [True, False])


@pytest.fixture
def zoo() -> Iterator[Zoo]:
    with playing(Plain()) as zoo:
        yield zoo
        zoo.service.go_on.set()


def client(zoo: Zoo, clock: Clock, *, stream: bool = True, **more: Any) -> ModelClient:
    params = {"stream": stream}
    prices = Prices(Decimal(2), Decimal(8))
    more.setdefault("limits", EndpointLimits(timeout_seconds=10))
    endpoint = Endpoint("plain", zoo.url(), "plain-1", params=params, prices=prices, policy=LOCAL, **more)
    return ModelClient(endpoint, retry_policy=RetryPolicy(attempts=3), timing=clock.timing)


@pytest.mark.parametrize("fault", ["no_done", "line_separator", "closed"])
def test_a_stream_is_read_to_its_end_however_it_ends(zoo: Zoo, clock: Clock, fault: str):
    zoo.service.faults = [fault, fault, fault]
    asking = client(zoo, clock)

    texts = [asking.complete(HELLO, sequence=n).text for n in range(3)]

    assert all(text.endswith(NOTE) for text in texts)
    assert fault != "line_separator" or texts[0].startswith("One\u2028two\u0085three.")
    assert len(zoo.service.log) == 3


def test_pieces_of_calls_without_their_number_belong_to_the_last_call(zoo: Zoo, clock: Clock):
    zoo.service.faults = ["no_index"]
    first, second = client(zoo, clock).complete(HELLO, tools=TOOLS).tool_calls
    assert (first.name, first.arguments) == ("list_dir", '{"path":  "."}')
    assert second.arguments.endswith('due.\\n"}')


@BOTH
def test_what_was_not_told_is_unknown_and_not_nothing(zoo: Zoo, clock: Clock, stream: bool):
    zoo.service.faults = ["no_usage"]
    completion = client(zoo, clock, stream=stream).complete(HELLO)
    assert (completion.tokens.prompt, completion.tokens.untold, completion.cost) == (None, 1, None)
    assert completion.spent.total > 0


@BOTH
def test_an_account_without_quota_is_asked_once(zoo: Zoo, clock: Clock, stream: bool):
    zoo.service.faults = ["quota"] * 3
    with pytest.raises(QuotaExceededError) as caught:
        client(zoo, clock, stream=stream).complete(HELLO)
    assert caught.value.hopeless and len(zoo.service.log) == 1


@BOTH
@pytest.mark.parametrize("fault", ["busy", "overloaded", "down", "html", "no_choices", "not_json"])
def test_what_may_pass_is_asked_again(zoo: Zoo, clock: Clock, stream: bool, fault: str):
    zoo.service.faults = [fault]
    assert client(zoo, clock, stream=stream).complete(HELLO).text == NOTE
    assert fault != "busy" or clock.pauses[0] >= 1


def test_an_answer_that_is_none_names_what_came(zoo: Zoo, clock: Clock):
    zoo.service.faults = ["no_choices"] * 3
    with pytest.raises(UnreadableAnswerError, match="no choices"):
        client(zoo, clock).complete(HELLO)


@BOTH
def test_a_refusal_that_names_nothing_fails_at_once_with_the_services_words(zoo: Zoo, clock: Clock, stream: bool):
    zoo.service.faults = ["detail"] * 3
    with pytest.raises(RequestRejectedError, match="where others have an error") as caught:
        client(zoo, clock, stream=stream).complete(HELLO)
    assert caught.value.hopeless and len(zoo.service.log) == 1


@BOTH
@pytest.mark.parametrize(
    ("fault", "ending", "text"),
    [
        ("refusal", "refused", "I can't help with that."),
        ("filtered", "filtered", ""),
        ("cut_text", "cut", NOTE[: len(NOTE) // 2]),
        ("only_a_thought", "empty", ""),
        ("empty", "empty", ""),
    ],
)
def test_how_an_answer_ended_is_told(zoo: Zoo, clock: Clock, stream: bool, fault: str, ending: str, text: str):
    zoo.service.faults = [fault]
    completion = client(zoo, clock, stream=stream).complete(HELLO)
    assert (completion.ending, completion.text) == (ending, text)
    assert ("ZOO-THOUGHT" in completion.thoughts) == (fault == "only_a_thought")


def test_arguments_that_were_cut_are_told_as_cut_and_come_back_as_json(zoo: Zoo, clock: Clock):
    zoo.service.faults = ["cut_arguments"]
    asking = client(zoo, clock)
    completion = asking.complete(HELLO, tools=TOOLS)
    results = [{"role": "tool", "tool_call_id": call.id, "content": "Cut."} for call in completion.tool_calls]

    asking.complete([*HELLO, completion.message, *results], tools=TOOLS)

    assert completion.ending == "cut"
    sent = zoo.service.log[-1].body["messages"][2]["tool_calls"]
    assert all('"not_json"' in call["function"]["arguments"] for call in sent)


@pytest.mark.parametrize("fault", ["fenced_draft", "cut_judge", "schema_500"])
def test_a_judge_is_understood_after_its_draft_asked_again_when_cut_and_without_its_mode(
    zoo: Zoo, clock: Clock, fault: str
):
    prompt = checklist_prompt([], "The note is there.", [(1, "x"), (2, "y")], escaped=True)
    zoo.service.faults = [fault]
    learned = Learned()
    asking = client(zoo, clock, learned=learned)

    decisions, completion = asking.ask_json(
        prompt.messages, "decisions", prompt.schema, lambda text: parse_answer(prompt, text), temperature=0
    )

    assert [decision.yes for decision in decisions] == [True, True]
    assert ("draft" in completion.thoughts) == (fault == "fenced_draft")
    assert len(zoo.service.log) == (1 if fault == "fenced_draft" else 2)
    assert learned.facts == ({"json": "json_object"} if fault == "schema_500" else {})
    if fault == "cut_judge":
        asked = zoo.service.log[-1].body["messages"]
        assert [message["role"] for message in asked] == ["system", "user", "assistant", "user"]
        assert "cut off at its limit of length" in asked[-1]["content"]
        assert "and more briefly" in asked[-1]["content"]


def test_a_judges_answer_that_a_filter_held_back_is_not_asked_for_again(zoo: Zoo, clock: Clock):
    prompt = checklist_prompt([], "The note is there.", [(1, "x")], escaped=True)
    zoo.service.faults = ["filtered"]
    with pytest.raises(ContentFilteredError, match="did not let its answer through") as caught:
        client(zoo, clock).ask_json(prompt.messages, "decisions", prompt.schema, json.loads)

    assert caught.value.hopeless
    assert len(zoo.service.log) == 1


def test_a_picture_that_is_answered_with_a_failure_of_the_server_is_a_refusal(zoo: Zoo, clock: Clock):
    zoo.service.faults = ["picture_500"] * 3
    shown = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    with pytest.raises(RequestRejectedError, match="image input is not supported"):
        client(zoo, clock).complete([HELLO[0], {"role": "user", "content": shown}])
    assert len(zoo.service.log) == 1


@pytest.mark.parametrize(
    ("fault", "limits"),
    [
        ("slow", EndpointLimits(timeout_seconds=0.5)),
        ("stalled", EndpointLimits(timeout_seconds=10, next_seconds=0.5)),
    ],
)
def test_silence_before_an_answer_and_in_its_middle_have_limits_of_their_own(
    zoo: Zoo, clock: Clock, fault: str, limits: EndpointLimits
):
    zoo.service.faults = [fault]
    asking = ModelClient(client(zoo, clock, limits=limits).endpoint, retry_policy=RetryPolicy(attempts=1))
    with pytest.raises(EndpointTimeoutError):
        asking.complete(HELLO)


@pytest.mark.parametrize("fault", ["quota", "detail", "html"])
def test_no_failure_holds_a_key(zoo: Zoo, clock: Clock, fault: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLAIN_API_KEY", "sk-secret-of-this-test")
    zoo.service.faults = [fault] * 3
    with pytest.raises(EndpointError) as caught:
        client(zoo, clock, key_env="PLAIN_API_KEY").complete(HELLO)
    assert "sk-secret" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
