"""Sending one request: its answer as JSON, or an EndpointError."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from evaluation.llm import http
from evaluation.llm.addresses import InternalAddressError
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

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_QUOTED = 300
"""Characters of an endpoint's message in an error's text."""

_TOO_LONG = re.compile(r"context.{0,20}(length|window)|maximum context|prompt is too long|too many tokens", re.I)


def send_request(
    endpoint: Endpoint, body: Mapping[str, Any], group: str = "", after_waiting: Callable[[], None] = lambda: None
) -> Mapping[str, Any]:
    """Waits in the line of ``group`` for what the endpoint allows at once. Raises EndpointError, whose message contains
    no key and whose context no request, and what ``after_waiting`` raises.
    """
    key = endpoint.key()
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",
        "Authorization": f"Bearer {key or 'none'}",
        "User-Agent": "pi-bench-studio",
    }
    failure: EndpointError
    queue = queue_of(endpoint)
    try:
        with queue.admitted(group, after_waiting):
            try:
                response = _post(endpoint, content, headers)
                queue.observe(response.status, response.headers)
                return _read(endpoint, response, key)
            except EndpointError as error:
                failure = error
            except TimeoutError:
                failure = _timed_out(endpoint)
            except InternalAddressError:
                failure = EndpointAddressError(
                    f"{endpoint.name} is inside an internal network; STUDIO_MODEL_NETWORKS does not name its address."
                )
            except http.UnreachableError:
                failure = EndpointUnreachableError(
                    f"{endpoint.name} cannot be reached at {_strip_credentials(endpoint.base_url)}."
                )
            except http.BrokenOffError as error:
                failure = TruncatedAnswerError(
                    f"{endpoint.name} broke off in the middle of its answer."
                    if error.answered
                    else f"{endpoint.name} closed the connection without an answer."
                )
            except http.TooLargeError:
                failure = UnreadableAnswerError(
                    f"{endpoint.name} answered with more than {MAX_ANSWER_BYTES // 2**20} MB."
                )
            except (ValueError, UnicodeError) as error:
                failure = RequestRejectedError(f"{endpoint.name} could not be asked: {type(error).__name__}.")
    except HeldError as held:
        failure = RateLimitError(f"{endpoint.name} limits the rate of requests.", retry_after=held.seconds)
    raise failure  # outside the handlers: their exceptions carry the request with its key


def _post(endpoint: Endpoint, content: bytes, headers: Mapping[str, str]) -> http.Response:
    return http.post(
        endpoint.address().rstrip("/") + "/chat/completions",
        content,
        headers,
        seconds=endpoint.limits.timeout_seconds,
        guarded=endpoint.base_url != SCRIPTED,
        max_bytes=MAX_ANSWER_BYTES,
    )


def _read(endpoint: Endpoint, response: http.Response, key: str) -> Mapping[str, Any]:
    if not 200 <= response.status < 300:
        raise _by_status(endpoint, response, key)
    streamed = response.headers.get("content-type", "").startswith("text/event-stream")
    answer = assemble(response.content) if streamed else _parse_json(response.content)
    if not isinstance(answer, dict):
        raise UnreadableAnswerError(f"{endpoint.name} answered with something that is not a JSON object.")
    if answer.get("error") and not answer.get("choices"):  # some gateways pass on a failure with status 200
        raise ServerError(f"{endpoint.name} answered with an error", detail=_detail(answer["error"], key))
    return answer


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _timed_out(endpoint: Endpoint) -> EndpointTimeoutError:
    return EndpointTimeoutError(f"{endpoint.name} did not answer within {endpoint.limits.timeout_seconds:g} seconds.")


def _by_status(endpoint: Endpoint, response: http.Response, key: str) -> EndpointError:
    status = response.status
    body = _parse_json(response.content)
    error = body.get("error", body) if isinstance(body, dict) else None
    detail = _detail(error, key)
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    if status == 429 and code == "insufficient_quota":
        return QuotaExceededError(f"The account at {endpoint.name} has no quota left.")
    if status == 429:
        return RateLimitError(
            f"{endpoint.name} limits the rate of requests.", retry_after=retry_after(response.headers)
        )
    if status in (401, 403):
        variable = f" in {endpoint.key_env}" if endpoint.key_env else ""
        return KeyRejectedError(f"{endpoint.name} refused the key{variable} (status {status}).")
    if status in (408, 409, 425) or status >= 500:
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
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
