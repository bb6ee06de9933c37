"""What services say when they refuse or fail, and what it means. Sources: docs/models.md."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.llm import (
    ContentFilteredError,
    ContextTooLongError,
    EndpointError,
    KeyRejectedError,
    QuotaExceededError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
)
from evaluation.llm.failures import Asked, Problem, failure_of, read_failure
from evaluation.llm.sending import failed_in

ASKED = Asked("m", "large", "sk-secret-42424242")


def read(status: int, body: Any) -> EndpointError:
    content = body if isinstance(body, str) else json.dumps(body)
    return read_failure(ASKED, status, {}, content.encode())


def openai_error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # Longer than it reads
        (400, openai_error("Too long.", code="context_length_exceeded"), ContextTooLongError),
        (400, openai_error("This model's maximum context length is 131072 tokens."), ContextTooLongError),  # DeepSeek
        (400, openai_error("Your request exceeded model token limit: 262144"), ContextTooLongError),  # Kimi
        (400, openai_error("Range of input length should be [1, 129024]"), ContextTooLongError),  # Qwen
        (400, [{"error": {"code": 400, "message": "The input token count (9) exceeds the maximum number of tokens "
                          "allowed (8)."}}], ContextTooLongError),  # Gemini
        (400, {"message": "Prompt contains 9 tokens, too large for model with 8 maximum context length"},
         ContextTooLongError),  # Mistral
        (400, openai_error("Please reduce the length of the messages or completion."), ContextTooLongError),  # Groq
        (400, {"object": "error", "message": "Input length (9) exceeds the maximum allowed length (8)."},
         ContextTooLongError),  # SGLang
        (400, {"error": {"code": 400, "message": "the request exceeds the available context size", "n_ctx": 8,
                         "type": "exceed_context_size_error"}}, ContextTooLongError),  # llama.cpp
        (400, openai_error("Too long.", type="exceed_context_size_error"), ContextTooLongError),
        (413, "", ContextTooLongError),
        # Filtered
        (400, openai_error("The response was filtered.", code="content_filter"), ContentFilteredError),  # Azure
        (400, openai_error("Content Exists Risk"), ContentFilteredError),  # DeepSeek
        (400, openai_error("High risk.", type="content_filter"), ContentFilteredError),  # Kimi
        (400, openai_error("Input data may contain inappropriate content.", code="data_inspection_failed"),
         ContentFilteredError),  # Qwen
        (403, openai_error("Failed check: SAFETY_CHECK_TYPE_BIO"), ContentFilteredError),  # xAI
        (400, openai_error("Invalid prompt.", code="invalid_prompt"), ContentFilteredError),
        # Money, keys, rates
        (429, openai_error("You exceeded your current quota.", code="insufficient_quota"), QuotaExceededError),
        (402, openai_error("Insufficient credits"), QuotaExceededError),  # OpenRouter
        (402, {"error": "Insufficient Balance"}, QuotaExceededError),
        (429, openai_error("Slow down."), RateLimitError),
        (429, {"error": {"message": "overloaded", "type": "engine_overloaded_error"}}, RateLimitError),  # Kimi
        (429, openai_error("Too many tokens in the last minute."), RateLimitError),
        (401, openai_error("Incorrect API key."), KeyRejectedError),
        # Refused
        (404, {"detail": "Not Found"}, RequestRejectedError),
        (400, {"error": "model is required"}, RequestRejectedError),
        (422, {"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs are not permitted"}]}, RequestRejectedError),
        (500, openai_error("image input is not supported - hint: you may need to provide the mmproj"),
         RequestRejectedError),  # llama.cpp
        (500, {"detail": "response_format: Input should be 'text' or 'json_object'"}, RequestRejectedError),
        # Its own failure
        (500, openai_error("Something broke."), ServerError),
        (529, "overloaded", ServerError),
        (502, "<html>Bad gateway</html>", ServerError),
        (503, openai_error("The provider behind it exceeded your current quota."), ServerError),
        (498, openai_error("No capacity for flexible requests."), ServerError),  # Groq
        (408, "", ServerError),
        (409, openai_error("Another request holds it."), ServerError),
        (425, "", ServerError),
        (500, openai_error("The provider behind it exceeded your current quota."), ServerError),
    ],
)  # fmt: skip
def test_failure_is_sorted_by_what_one_can_do_about_it(status: int, body: Any, kind: type[EndpointError]):
    failure = read(status, body)

    assert type(failure) is kind
    assert failure.retryable == (kind in (RateLimitError, ServerError))
    assert failure.hopeless != failure.retryable


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"detail": "No such model."}, "No such model."),
        ({"error": "No such model."}, "No such model."),
        ([{"error": {"message": "No such model."}}], "No such model."),
        ("No such model.", "No such model."),
        ({"message": {"detail": [{"loc": ["body", "n"], "msg": "No."}]}}, "body.n: No."),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "No such model."}}}, "No such model."),
        (openai_error("Key sk-secret-42424242 knows no such model."), "Key [key] knows no such model."),
        ("<html>Not found</html>", "status 404."),
    ],
)
def test_the_services_sentence_is_shown_whatever_its_shape_and_never_a_key(body: Any, sentence: str):
    failure = read(404, body)

    assert str(failure).endswith(sentence)
    assert failure.own_words == "m refused the request with status 404."


def test_a_limit_of_rate_quotes_what_the_service_says():
    assert str(read(429, openai_error("3 requests a minute."))) == "m limits the rate of requests: 3 requests a minute."


def test_effort_with_tools_that_needs_responses_is_said_how_to_mend():
    body = openai_error("Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions.")

    assert str(read(400, body)).endswith("Set the model's API to Responses.")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 429, "message": "Slow down."}}, RateLimitError),
        ({"error": {"code": 402, "message": "No credits."}}, QuotaExceededError),
        ({"error": {"code": 503, "message": "No provider."}}, ServerError),
        ({"error": {"code": 400, "message": "No such parameter."}}, RequestRejectedError),
        ({"error": {"code": 600, "message": "No such status."}}, ServerError),
        ({"error": {"message": "Broke off."}}, ServerError),
        ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, RateLimitError),
        ({"base_resp": {"status_code": 1027, "status_msg": "output sensitive"}}, ContentFilteredError),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, QuotaExceededError),
    ],
)
def test_failure_in_the_body_of_a_200_is_sorted_by_its_code(body: Any, kind: type[EndpointError]):
    problem = Problem.of(body)

    assert type(failure_of(ASKED, problem.status, {}, problem)) is kind


HALF = {"message": {"content": "The fee"}}
BROKEN = {"code": 502, "message": "Provider disconnected"}


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ({"choices": [{**HALF, "finish_reason": "error"}]}, True),
        ({"choices": [{"message": {"content": ""}, "error": BROKEN}]}, True),
        ({"choices": [{**HALF, "error": BROKEN, "finish_reason": "stop"}]}, False),  # a complaint beside a whole answer
        ({"error": BROKEN}, True),
        ({"status": "failed", "error": BROKEN, "output": [{"type": "reasoning"}]}, True),
        ({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}, True),
        ({"choices": [{**HALF, "finish_reason": "stop"}], "base_resp": {"status_code": 0}}, False),
    ],
)
def test_an_answer_that_failed_after_it_began_is_told_from_one_that_is_whole(answer: dict[str, Any], failed: bool):
    assert (failed_in(answer) is not None) is failed
