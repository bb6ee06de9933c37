"""Sending one request: its answer as JSON, or an EndpointError.

The openai client makes the request, once for each endpoint: where it goes, its key and its headers. What it does
besides for each call takes several times as long as sending it.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, Protocol
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
from evaluation.llm.wire import Answer, Wire, connect_anywhere
from studio.files.hosts import InternalAddressError

logging.getLogger("httpx2").setLevel(logging.WARNING)  # one line per call would drown the worker's own log

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_QUOTED = 300
"""Characters of an endpoint's message in an error's text."""

_REQUEST_AT_FAULT = re.compile(r"response_format|validation errors?\b", re.I)
"""In the message of a server that answers a request it does not understand with a status of its own failure, as
llama-cpp-python's does: sent again, the request would fail again."""
_TOO_LONG = re.compile(r"context.{0,20}(length|window)|maximum context|prompt is too long|too many tokens", re.I)


class Sender(Protocol):
    def post(self, content: bytes, seconds: float) -> Answer:
        """Raises httpx2.RequestError."""
        ...


_senders: dict[tuple[int, str, str, float, bool], Sender] = {}
_lock = threading.Lock()


def send_request(
    endpoint: Endpoint, content: bytes, group: str = "", after_waiting: Callable[[], None] = lambda: None
) -> Mapping[str, Any]:
    """Waits in the line of ``group`` for what the endpoint allows at once. Raises EndpointError, whose message contains
    no key and whose context no request, and what ``after_waiting`` raises.
    """
    key = endpoint.key()
    address = endpoint.address()
    queue = queue_of(endpoint)
    failure: EndpointError
    try:
        with queue.admitted(group, after_waiting):
            try:
                sender = _sender(address, key, endpoint.limits.timeout_seconds, guarded=endpoint.base_url != SCRIPTED)
                return _post(sender, endpoint, content, queue.observe)
            except EndpointError as error:
                failure = error
            except httpx2.TimeoutException:
                failure = _timed_out(endpoint)
            except httpx2.RequestError as error:
                failure = _no_connection(endpoint, error)
            except (openai.OpenAIError, httpx2.InvalidURL) as error:
                failure = RequestRejectedError(f"{endpoint.name} could not be asked: {type(error).__name__}.")
    except HeldError as held:
        failure = RateLimitError(f"{endpoint.name} limits the rate of requests.", retry_after=held.seconds)
    raise failure  # outside the handlers: their exceptions carry the request with its key


def _post(
    sender: Sender, endpoint: Endpoint, content: bytes, observe: Callable[[int, Mapping[str, str]], None]
) -> Mapping[str, Any]:
    deadline = time.monotonic() + endpoint.limits.timeout_seconds
    with closing(sender.post(content, endpoint.limits.timeout_seconds)) as response:
        observe(response.status_code, response.headers)
        try:
            found = _read(response, endpoint, deadline)
        except httpx2.TimeoutException:
            raise
        except httpx2.HTTPError:
            raise TruncatedAnswerError(f"{endpoint.name} broke off in the middle of its answer.") from None
        if not 200 <= response.status_code < 300:
            raise _by_status(endpoint, response, found)
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
    answer = assemble(bytes(found)) if streamed else _parse_json(found)
    if not isinstance(answer, dict):
        raise UnreadableAnswerError(f"{endpoint.name} answered with something that is not a JSON object.")
    if answer.get("error") and not answer.get("choices"):  # some gateways pass on a failure with status 200
        detail = _detail(answer["error"], endpoint.key())
        raise ServerError(f"{endpoint.name} answered with an error", detail=detail)
    return answer


def _read(response: Answer, endpoint: Endpoint, deadline: float) -> bytearray:
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise UnreadableAnswerError(f"{endpoint.name} answered with more than {MAX_ANSWER_BYTES // 2**20} MB.")
        if time.monotonic() > deadline:
            raise _timed_out(endpoint)
    return content


def _parse_json(content: bytearray) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _sender(address: str, key: str, seconds: float, *, guarded: bool) -> Sender:
    """One, and thus one pool of connections, per process, address and key. ``guarded``: it connects only to the
    addresses that settings allow. Raises openai.OpenAIError and httpx2.RequestError."""
    identity = (os.getpid(), address, key, seconds, guarded)
    with _lock:
        sender = _senders.get(identity)
        if sender is None:
            template = _template(address, key, seconds)
            local = address.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]"))
            proxied = not local and bool(getproxies())
            connect = connect_allowed if guarded else connect_anywhere
            sender = _ThroughProxy(template, guarded=guarded) if proxied else Wire(template, connect)
            _senders[identity] = sender
        return sender


def _template(address: str, key: str, seconds: float) -> httpx2.Request:
    """As the openai client makes it."""
    with openai.OpenAI(
        base_url=address,
        api_key=key or "none",
        organization="",
        project="",
        max_retries=0,
        http_client=httpx2.Client(transport=_Echo(), trust_env=False),
    ) as client:
        answer: httpx2.Response = client.post(
            "/chat/completions", cast_to=httpx2.Response, body={}, options={"timeout": seconds}
        )
        return answer.request


class _Echo(httpx2.BaseTransport):
    """Sends nothing: the answer names the request."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, request=request)


class _ThroughProxy:
    """For an environment that names a proxy: httpx2's own client."""

    def __init__(self, template: httpx2.Request, *, guarded: bool) -> None:
        self._template = template
        self._headers = [field for field in template.headers.multi_items() if field[0] != "content-length"]
        self._client = openai.DefaultHttpxClient(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=30),
            follow_redirects=False,  # the address was allowed, not where it sends us
        )
        if guarded:  # the default transport only: a proxy resolves names itself
            transport: Any = self._client._transport
            transport._pool._network_backend = GuardedBackend()

    def post(self, content: bytes, seconds: float) -> Answer:
        request = self._client.build_request(
            "POST", self._template.url, headers=self._headers, content=content, timeout=seconds
        )
        return self._client.send(request, stream=True)


def _timed_out(endpoint: Endpoint) -> EndpointTimeoutError:
    return EndpointTimeoutError(f"{endpoint.name} did not answer within {endpoint.limits.timeout_seconds:g} seconds.")


def _no_connection(endpoint: Endpoint, error: httpx2.RequestError) -> EndpointError:
    if isinstance(error.__cause__, InternalAddressError):
        return EndpointAddressError(
            f"{endpoint.name} is inside an internal network; STUDIO_MODEL_NETWORKS does not name its address."
        )
    if isinstance(error, (httpx2.ConnectError, httpx2.UnsupportedProtocol)):
        return EndpointUnreachableError(
            f"{endpoint.name} cannot be reached at {_strip_credentials(endpoint.base_url)}."
        )
    return TruncatedAnswerError(f"{endpoint.name} closed the connection without an answer.")


def _by_status(endpoint: Endpoint, response: Answer, content: bytearray) -> EndpointError:
    status = response.status_code
    body = _parse_json(content)
    problem = body.get("error", body) if isinstance(body, dict) else body
    code = str(problem.get("code") or "") if isinstance(problem, dict) else ""
    detail = _detail(problem, endpoint.key())
    if 300 <= status < 400:
        return RequestRejectedError(f"{endpoint.name} sends requests on to another address. Connect that one instead.")
    if status == 429 and code == "insufficient_quota":
        return QuotaExceededError(f"The account at {endpoint.name} has no quota left.")
    if status == 429:
        return RateLimitError(
            f"{endpoint.name} limits the rate of requests.", retry_after=retry_after(response.headers)
        )
    if status in (401, 403):
        variable = f" in {endpoint.key_env}" if endpoint.key_env else ""
        return KeyRejectedError(f"{endpoint.name} refused the key{variable} (status {status}).")
    if status in (408, 409, 425) or (status >= 500 and not _REQUEST_AT_FAULT.search(detail)):
        wait = retry_after(response.headers)
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
