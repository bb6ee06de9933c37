"""Sending one request through the openai client: its answer as JSON, or an EndpointError."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import httpx2
import openai

from evaluation.llm.connections import (
    CONNECT_SECONDS,
    MAX_ANSWER_BYTES,
    AnswerTooLargeError,
    Watch,
    client_of,
    expect_soon,
    no_address,
    watched,
)
from evaluation.llm.endpoint import SCRIPTED, Endpoint
from evaluation.llm.errors import (
    EndpointAddressError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
    RateLimitError,
    RequestRejectedError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from evaluation.llm.failures import Asked, Problem, failure_of, read_failure
from evaluation.llm.slots import HeldError, Lane
from evaluation.llm.streaming import assemble
from studio.domain.hosts import InternalAddressError

logging.getLogger("httpx2").setLevel(logging.WARNING)  # one line per call would drown the worker's own log

HOLD_SECONDS = 1.0
"""After a 429 that does not say how long to wait."""
LONGEST_HOLD = 600.0
GRACE = CONNECT_SECONDS + 10
"""Seconds that a slot outlives the longest silence of its call."""
LIST_SECONDS = 20.0
FAILURES = (EndpointError, openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError)
"""What asking an endpoint may raise."""
PATHS = {"chat": "/chat/completions", "responses": "/responses"}

Json = Mapping[str, Any]


def send_request(endpoint: Endpoint, body: Json, lane: Lane, after_waiting: Callable[[], None]) -> dict[str, Any]:
    """Waits in its lane for what the endpoint allows at once. Raises EndpointError, whose message contains no key and
    whose context no request, and what ``after_waiting`` raises.
    """
    if endpoint.answer is not None:
        return dict(endpoint.answer(body))
    limits = endpoint.limits
    failure: EndpointError
    try:
        with lane.admitted(
            endpoint.place, max(1, limits.max_concurrency), limits.timeout_seconds + GRACE, after_waiting
        ) as hold_on:
            watch = Watch(limits.whole_seconds, hold_on)
            try:
                return _post(endpoint, body, watch)
            except FAILURES as error:
                failure = failure_from(endpoint, error)
                if (
                    isinstance(failure, EndpointTimeoutError)
                    and watch.received
                    and watch.seconds == limits.whole_seconds
                ):
                    failure = EndpointTimeoutError(f"{endpoint.name} did not go on with its answer.")
            if isinstance(failure, RateLimitError):
                lane.slots.hold(endpoint.place, min(failure.retry_after or HOLD_SECONDS, LONGEST_HOLD))
    except HeldError as held:
        failure = RateLimitError(f"{endpoint.name} limits the rate of requests.", retry_after=held.seconds)
    raise failure  # outside the handlers: their exceptions carry the request with its key


def list_models(endpoint: Endpoint) -> list[Json]:
    """What the service lists at ``/models``; the endpoint's own model plays no part. Raises EndpointError."""
    failure: EndpointError
    try:
        with watched(Watch(LIST_SECONDS)):
            options: Any = {"timeout": LIST_SECONDS}
            answer = client_for(endpoint).get("/models", cast_to=httpx2.Response, options=options).json()
        return [entry for entry in answer["data"] if isinstance(entry, Mapping)]
    except (KeyError, TypeError):
        failure = UnreadableAnswerError(f"{endpoint.name} has no list of models at this address.")
    except FAILURES as error:
        failure = failure_from(endpoint, error)
    raise failure


def failure_from(endpoint: Endpoint, error: Exception) -> EndpointError:
    """What one of ``FAILURES`` means."""
    if isinstance(error, EndpointError):
        return error
    if isinstance(error, openai.APIStatusError):
        response = error.response
        return read_failure(asked_of(endpoint), response.status_code, response.headers, response.content)
    if isinstance(error, (openai.APIConnectionError, httpx2.HTTPError)):
        return _no_connection(endpoint, error)
    if isinstance(error, openai.APIError):  # in a stream
        return _in_body(endpoint, {"error": error.body or error.message})
    if isinstance(error, (openai.OpenAIError, httpx2.InvalidURL)):
        return RequestRejectedError(f"{endpoint.name} could not be asked: {type(error).__name__}.")
    return UnreadableAnswerError(f"{endpoint.name} answered with something that is not a JSON object.")


def client_for(endpoint: Endpoint) -> openai.OpenAI:
    networks = None if endpoint.base_url == SCRIPTED else endpoint.policy.networks
    return client_of(endpoint.address(), endpoint.key(), networks)


def _post(endpoint: Endpoint, body: Json, watch: Watch) -> dict[str, Any]:
    limits = endpoint.limits
    timeout = httpx2.Timeout(limits.timeout_seconds, connect=min(CONNECT_SECONDS, limits.timeout_seconds), pool=None)
    with watched(watch):
        stream = client_for(endpoint).post(
            PATHS[endpoint.api],
            cast_to=object,
            body=body,
            options={"timeout": timeout},
            stream=True,
            stream_cls=openai.Stream[object],
        )
        with closing(stream.response) as response:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                answer = assemble(stream, lambda: expect_soon(response, limits.next_seconds))
            else:
                watch.seconds = limits.timeout_seconds
                answer = json.loads(b"".join(response.iter_bytes()))
    if not isinstance(answer, dict):
        raise ValueError
    if failed := failed_in(answer):
        raise _in_body(endpoint, failed)
    return answer


def failed_in(answer: Json) -> Json | None:
    """A failure that came with status 200, as routers pass them on."""
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    said = isinstance(first.get("message"), dict) and bool(first["message"].get("content"))
    if answer.get("error") and not first and not answer.get("output"):
        return answer
    if first.get("finish_reason") == "error" or (first.get("error") and not said):
        return {"error": first.get("error") or "The answer broke off."}
    if answer.get("status") == "failed" or Problem.of({"base_resp": answer.get("base_resp")}).code:
        return answer
    return None


def asked_of(endpoint: Endpoint) -> Asked:
    return Asked(endpoint.name, endpoint.model, endpoint.key(), endpoint.key_env)


def _in_body(endpoint: Endpoint, body: Json) -> EndpointError:
    problem = Problem.of(body)
    return failure_of(asked_of(endpoint), problem.status, {}, problem)


def _no_connection(endpoint: Endpoint, error: Exception) -> EndpointError:
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    name, seconds = endpoint.name, endpoint.limits.timeout_seconds
    if missing := no_address(error):
        kind = EndpointAddressError if isinstance(missing, InternalAddressError) else EndpointUnreachableError
        return kind(
            f"{name} cannot be reached at {_strip_credentials(endpoint.base_url)}. If that is inside an internal "
            "network, STUDIO_MODEL_NETWORKS has to name its address."
        )
    if isinstance(cause, AnswerTooLargeError):
        return UnreadableAnswerError(f"{name} answered with more than {MAX_ANSWER_BYTES // 2**20} MB.")
    if isinstance(error, openai.APITimeoutError) or isinstance(cause, httpx2.TimeoutException):
        return EndpointTimeoutError(f"{name} did not answer within {seconds:g} seconds.")
    if isinstance(cause, (httpx2.ConnectError, httpx2.UnsupportedProtocol)):
        return EndpointUnreachableError(f"{name} cannot be reached at {_strip_credentials(endpoint.base_url)}.")
    if isinstance(error, httpx2.HTTPError):  # while it was read
        return TruncatedAnswerError(f"{name} broke off in the middle of its answer.")
    return TruncatedAnswerError(f"{name} closed the connection without a whole answer.")


def _strip_credentials(url: str) -> str:
    parsed = httpx2.URL(url)
    return f"{parsed.scheme}://{parsed.host}{f':{parsed.port}' if parsed.port else ''}{parsed.path}"
