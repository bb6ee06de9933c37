"""What each line of a test says of a model that does not hold it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evaluation.endpoints.tryout import CHECKS, WORDS, Line, Tryout
from evaluation.llm import Endpoint, EndpointError, ModelClient, RetryPolicy
from tests.evaluation.conftest import LOCAL
from tests.evaluation.endpoints.service import Body, Service, serving


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Service()) as running:
        yield running


def play(service: Service, **options: Any) -> dict[str, Line]:
    endpoint = Endpoint("stub", service.base_url, "large", policy=LOCAL)
    client = ModelClient(endpoint, retry_policy=RetryPolicy(attempts=1))
    lines = {line.name: line for line in Tryout(client, **options).lines()}
    assert [line for line in lines.values() if line.outcome in ("fails", "note") and not line.advice] == []
    return lines


def message_of(answer: Body) -> Body:
    return answer["choices"][0]["message"]


def test_model_that_holds_everything_has_every_line(service: Service):
    lines = play(service, context=65_536)

    assert list(lines) == list(CHECKS)
    assert {name: line.outcome for name, line in lines.items() if line.outcome != "holds"} == {}
    assert "65,536" in lines["context"].word
    assert lines["cache"].word.startswith("yes, 26,")


def test_empty_answer_fails_and_nothing_else_is_asked(service: Service):
    def empty(body: Body, answer: Body) -> Body:
        message_of(answer)["content"] = ""
        return answer

    service.bend = empty

    lines = play(service)

    assert (lines["answers"].outcome, lines["answers"].word) == ("fails", "empty answer")
    assert {line.outcome for name, line in lines.items() if name != "answers"} == {"skipped"}
    assert len(service.bodies) == 1


def test_missing_usage_is_a_failure_and_not_nothing(service: Service):
    service.bend = lambda body, answer: {name: value for name, value in answer.items() if name != "usage"}

    line = play(service)["usage"]

    assert (line.outcome, line.word) == ("fails", "not told")
    assert "include_usage" in line.advice


@pytest.mark.parametrize("context", [2_048, 30_000])
def test_short_context_that_is_told_fails_before_a_long_prompt_is_sent(service: Service, context: int):
    """That it could read the prompt leaves too little for an answer."""
    line = play(service, context=context)["context"]

    assert (line.outcome, line.word) == ("fails", f"it reads {context:,} tokens")
    assert max(len(str(body)) for body in service.bodies) < 10_000


@pytest.mark.parametrize("context", [4_096, 16_384])
def test_prompt_that_was_cut_silently_is_noticed_by_its_tokens(service: Service, context: int):
    def cut(body: Body, answer: Body) -> Body:
        answer["usage"]["prompt_tokens"] = min(context, answer["usage"]["prompt_tokens"])
        return answer

    service.bend = cut

    line = play(service)["context"]

    assert (line.outcome, line.word) == ("fails", f"only {context:,} tokens arrived: the rest was cut silently")


def test_prompt_whose_beginning_was_cut_without_a_count_is_noticed_by_what_is_lost(service: Service):
    def cut(body: Body, answer: Body) -> Body:
        if "password" in str(body["messages"][-1]["content"]):
            message_of(answer)["content"] = "I know of no password."
        return {name: value for name, value in answer.items() if name != "usage"}

    service.bend = cut

    assert (play(service)["context"].outcome, play(service)["context"].word) == ("fails", "its beginning was lost")


def test_prompt_that_was_refused_as_too_long_says_so(service: Service):
    def refuse(body: Body, answer: Body) -> Body | tuple[int, Body]:
        if len(str(body)) < 10_000:
            return answer
        return 400, {"error": {"message": "This model's maximum context length is 8192 tokens.", "code": None}}

    service.bend = refuse

    line = play(service)["context"]

    assert (line.outcome, line.word) == ("fails", "too long for it")
    assert "8192" in line.detail


def test_model_without_tools_fails_for_agents(service: Service):
    def talk(body: Body, answer: Body) -> Body:
        message_of(answer).pop("tool_calls", None)
        message_of(answer)["content"] = "About 31 °C."
        return answer

    service.bend = talk

    lines = play(service)

    assert (lines["tools"].outcome, lines["loop"].outcome) == ("fails", "skipped")


def test_one_call_at_a_time_is_only_noted(service: Service):
    def one(body: Body, answer: Body) -> Body:
        if calls := message_of(answer).get("tool_calls"):
            del calls[1:]
        return answer

    service.bend = one

    assert play(service)["parallel"].outcome == "note"


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({}, "yes, but its thoughts are lost from call to call"),
        (
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
            "yes, its thoughts were returned to it",
        ),
    ],
)
def test_hidden_thoughts_are_returned_only_where_the_service_sends_something_to_return(
    service: Service, told: Body, word: str
):
    def think(body: Body, answer: Body) -> Body:
        answer["usage"]["completion_tokens_details"] = {"reasoning_tokens": 9}
        message_of(answer).update(told)
        return answer

    service.bend = think

    line = play(service)["loop"]

    assert (line.word, line.outcome) == (word, "holds" if told else "note")
    assert ("Responses" in line.advice) == (not told)


def test_tool_loop_that_the_service_refuses_shows_its_sentence(service: Service):
    sentence = "The `reasoning_content` in the thinking mode must be passed back to the API."

    def refuse(body: Body, answer: Body) -> Body | tuple[int, Body]:
        return (400, {"error": {"message": sentence}}) if body["messages"][-1]["role"] == "tool" else answer

    service.bend = refuse

    line = play(service)["loop"]

    assert line.outcome == "fails"
    assert sentence in line.detail


def test_judge_that_gives_no_json_fails(service: Service):
    def prose(body: Body, answer: Body) -> Body:
        if "as JSON" in str(body) or "response_format" in body:
            message_of(answer)["content"] = "Yes, it is four."
        return answer

    service.bend = prose

    lines = play(service)

    assert (lines["json"].outcome, lines["schema"].word) == ("fails", "taken, not enforced")


def test_pictures_that_are_ignored_are_noted(service: Service):
    def blind(body: Body, answer: Body) -> Body:
        if not isinstance(body["messages"][-1]["content"], str):
            message_of(answer)["content"] = "I see no picture."
        return answer

    service.bend = blind

    assert (play(service)["pictures"].outcome, play(service)["pictures"].word) == ("note", "ignored")


def test_cache_that_is_not_told_is_noted(service: Service):
    def untold(body: Body, answer: Body) -> Body:
        del answer["usage"]["prompt_tokens_details"]
        return answer

    service.bend = untold

    assert (play(service)["cache"].outcome, play(service)["cache"].word) == ("note", "not told")


def test_effort_without_any_sign_of_thoughts_is_noted(service: Service):
    assert play(service, effort="high")["thinking"].outcome == "note"
    assert play(service, effort="none")["thinking"].outcome == "holds"


def test_what_to_set_at_a_local_server_follows_what_is_lacking(service: Service):
    line = play(service, context=4_096, advice="Set OLLAMA_CONTEXT_LENGTH.")["context"]

    assert line.advice.startswith("Choose a model, or start the server, with a context of 65,536 tokens")
    assert line.advice.endswith(" Set OLLAMA_CONTEXT_LENGTH.")


def test_every_failure_of_an_endpoint_has_a_word_and_says_what_to_set():
    def kinds(error: type[EndpointError]) -> set[type[EndpointError]]:
        return {kind for each in error.__subclasses__() for kind in {each, *kinds(each)}}

    assert {kind.__name__ for kind in kinds(EndpointError)} == set(WORDS)
    assert all(advice for _, advice in WORDS.values())
