"""Sending one request through the openai client: its answer as JSON, or an EndpointError."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any
from urllib.request import getproxies

import httpx2
import openai

from evaluation.llm.addresses import GuardedBackend, connect_allowed
from evaluation.llm.admission import HeldError, queue_of
from evaluation.llm.endpoint import SCRIPTED, Endpoint
from evaluation.llm.errors import (
    ContextTooLongError,
    EndpointAddressError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
    KeyRejectedError,
    QuotaExceededError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from evaluation.llm.retry import retry_after
from evaluation.llm.streaming import assemble
from evaluation.llm.wire import WireClient, connect_anywhere
from studio.files.hosts import InternalAddressError

logging.getLogger("httpx2").setLevel(logging.WARNING)  # one line per call would drown the worker's own log

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_QUOTED = 300
"""Characters of an endpoint's message in an error's text."""

_TOO_LONG = re.compile(r"context.{0,20}(length|window)|maximum context|prompt is too long|too many tokens", re.I)
_AS_IT_COMES = {"X-Stainless-Raw-Response": "stream"}
"""As ``with_streaming_response`` of the openai client asks for the response itself, before its body is read."""
_clients: dict[tuple[int, str, str, bool], openai.OpenAI] = {}
_lock = threading.Lock()


def send_request(
    endpoint: Endpoint, body: Mapping[str, Any], group: str = "", after_waiting: Callable[[], None] = lambda: None
) -> Mapping[str, Any]:
    """Waits in the line of ``group`` for what the endpoint allows at once. Raises EndpointError, whose message contains
    no key and whose context no request, and what ``after_waiting`` raises.
    """
    key = endpoint.key()
    client = _client(endpoint.address(), key, guarded=endpoint.base_url != SCRIPTED)
    queue = queue_of(endpoint)
    failure: EndpointError
    try:
        with queue.admitted(group, after_waiting):
            try:
                return _post(client, endpoint, body, queue.observe)
            except EndpointError as error:
                failure = error
            except (openai.APITimeoutError, httpx2.TimeoutException):
                failure = _timed_out(endpoint)
            except openai.APIConnectionError as error:
                failure = _no_connection(endpoint, error)
            except httpx2.HTTPError:
                failure = TruncatedAnswerError(f"{endpoint.name} broke off in the middle of its answer.")
            except openai.APIStatusError as error:
                queue.observe(error.status_code, error.response.headers)
                failure = _by_status(endpoint, error, key)
            except (openai.OpenAIError, httpx2.InvalidURL) as error:
                failure = RequestRejectedError(f"{endpoint.name} could not be asked: {type(error).__name__}.")
    except HeldError as held:
        failure = RateLimitError(f"{endpoint.name} limits the rate of requests.", retry_after=held.seconds)
    raise failure  # outside the handlers: their exceptions carry the request with its key


def _post(
    client: openai.OpenAI,
    endpoint: Endpoint,
    body: Mapping[str, Any],
    observe: Callable[[int, Mapping[str, str]], None],
) -> Mapping[str, Any]:
    seconds = endpoint.limits.timeout_seconds
    deadline = time.monotonic() + seconds
    # not chat.completions.create: it transforms every argument by type, half of the client's CPU time
    options: Any = {"headers": _AS_IT_COMES, "timeout": seconds}
    answered: Any = client.post("/chat/completions", cast_to=object, body=dict(body), options=options)
    with closing(answered) as response:
        observe(response.status_code, response.headers)
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > MAX_ANSWER_BYTES:
                raise UnreadableAnswerError(f"{endpoint.name} answered with more than {MAX_ANSWER_BYTES // 2**20} MB.")
            if time.monotonic() > deadline:
                raise _timed_out(endpoint)
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
    answer = assemble(bytes(content)) if streamed else _parse_json(content)
    if not isinstance(answer, dict):
        raise UnreadableAnswerError(f"{endpoint.name} answered with something that is not a JSON object.")
    if answer.get("error") and not answer.get("choices"):  # some gateways pass on a failure with status 200
        detail = _detail(answer["error"], endpoint.key())
        raise ServerError(f"{endpoint.name} answered with an error", detail=detail)
    return answer


def _parse_json(content: bytearray) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _client(address: str, key: str, *, guarded: bool) -> openai.OpenAI:
    """One client, and thus one connection pool, per process, address and key. ``guarded``: it connects only to the
    addresses that settings allow."""
    identity = (os.getpid(), address, key, guarded)
    with _lock:
        client = _clients.get(identity)
        if client is None:
            local = address.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]"))
            proxied = not local and bool(getproxies())
            connect = connect_allowed if guarded else connect_anywhere
            http_client = _through_proxy(guarded=guarded) if proxied else WireClient(connect)
            client = _clients[identity] = openai.OpenAI(
                base_url=address,
                api_key=key or "none",
                organization="",
                project="",
                max_retries=0,
                http_client=http_client,
            )
        return client


def _through_proxy(*, guarded: bool) -> httpx2.Client:
    """For an environment that names a proxy."""
    http_client = openai.DefaultHttpxClient(
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=30),
        follow_redirects=False,  # the address was allowed, not where it sends us
    )
    if guarded:  # the default transport only: a proxy resolves names itself
        transport: Any = http_client._transport
        transport._pool._network_backend = GuardedBackend()
    return http_client


def _timed_out(endpoint: Endpoint) -> EndpointTimeoutError:
    return EndpointTimeoutError(f"{endpoint.name} did not answer within {endpoint.limits.timeout_seconds:g} seconds.")


def _no_connection(endpoint: Endpoint, error: openai.APIConnectionError) -> EndpointError:
    if error.__cause__ and isinstance(error.__cause__.__cause__, InternalAddressError):
        return EndpointAddressError(
            f"{endpoint.name} is inside an internal network; STUDIO_MODEL_NETWORKS does not name its address."
        )
    if isinstance(error.__cause__, (httpx2.ConnectError, httpx2.UnsupportedProtocol)):
        return EndpointUnreachableError(
            f"{endpoint.name} cannot be reached at {_strip_credentials(endpoint.base_url)}."
        )
    return TruncatedAnswerError(f"{endpoint.name} closed the connection without an answer.")


def _by_status(endpoint: Endpoint, error: openai.APIStatusError, key: str) -> EndpointError:
    status = error.status_code
    detail = _detail(error.body, key)
    code = str(error.code or "")
    if 300 <= status < 400:
        return RequestRejectedError(f"{endpoint.name} sends requests on to another address. Connect that one instead.")
    if status == 429 and code == "insufficient_quota":
        return QuotaExceededError(f"The account at {endpoint.name} has no quota left.")
    if status == 429:
        return RateLimitError(
            f"{endpoint.name} limits the rate of requests.", retry_after=retry_after(error.response.headers)
        )
    if status in (401, 403):
        variable = f" in {endpoint.key_env}" if endpoint.key_env else ""
        return KeyRejectedError(f"{endpoint.name} refused the key{variable} (status {status}).")
    if status in (408, 409, 425) or status >= 500:
        wait = retry_after(error.response.headers)
        return ServerError(f"{endpoint.name} failed with status {status}", detail=detail, retry_after=wait)
    if status == 413 or code == "context_length_exceeded" or _TOO_LONG.search(detail):
        return ContextTooLongError(f"The conversation is longer than {endpoint.model} can read", detail=detail)
    return RequestRejectedError(f"{endpoint.name} refused the request with status {status}", detail=detail)


def _detail(body: object, key: str) -> str:
    """The endpoint's message as the end of a sentence, short and without anything that looks like a key."""
    message = body.get("message") if isinstance(body, Mapping) else None
    if not isinstance(message, str) or not message.strip():
        return "."
    text = " ".join(message.split())
    if key:
        text = text.replace(key, "[key]")
    text = re.sub(r"\b(sk|pk|key|Bearer)[-_ ][\w*.-]{6,}", "[key]", text)
    return f": {text[:MAX_QUOTED]}"


def _strip_credentials(url: str) -> str:
    parsed = httpx2.URL(url)
    return f"{parsed.scheme}://{parsed.host}{f':{parsed.port}' if parsed.port else ''}{parsed.path}"
