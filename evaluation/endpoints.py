"""Checking model endpoints. Keys stay in the environment."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from evaluation.llm import Budget, Endpoint, EndpointError, ModelClient, RetryPolicy, internal_problem, is_internal
from evaluation.llm.endpoint import SCRIPTED
from evaluation.models import ModelEndpoint

PROMPT = "Answer with the one word: ready."
MAX_TOKENS = 64
LABELS = {
    "MissingKeyError": "no key",
    "KeyRejectedError": "key refused",
    "EndpointUnreachableError": "cannot be reached",
    "EndpointAddressError": "address not allowed",
    "EndpointTimeoutError": "too slow",
    "TruncatedAnswerError": "cut off",
    "RateLimitError": "too many requests",
    "QuotaExceededError": "quota spent",
    "ServerError": "failing",
    "UnreadableAnswerError": "unreadable answer",
    "RequestRejectedError": "request refused",
    "ContextTooLongError": "request refused",
}
"""By exception class."""


@dataclass(frozen=True)
class EndpointCheck:
    works: bool
    milliseconds: int
    answer: str = ""
    kind: str = ""
    """A failure's label: ``key refused``."""
    message: str = ""
    """A failure's description. Never contains a key."""


def check_endpoint(row: ModelEndpoint) -> EndpointCheck:
    """Send one small request, once. Nothing is stored; it may cost a few tokens. What a service of an internal network
    answers is not shown."""
    quotes = row.scripted or not is_internal(row.base_url)
    started = time.monotonic()
    try:
        client = ModelClient(Endpoint.of(row), budget=Budget(), retry_policy=RetryPolicy(attempts=1))
        completion = client.complete([{"role": "user", "content": PROMPT}], max_tokens=MAX_TOKENS)
    except EndpointError as failure:
        kind = LABELS.get(type(failure).__name__, "failed")
        return EndpointCheck(
            False, _milliseconds_since(started), kind=kind, message=str(failure) if quotes else failure.own_words
        )
    except ValueError as problem:
        return EndpointCheck(False, _milliseconds_since(started), kind="not usable", message=str(problem))
    return EndpointCheck(True, _milliseconds_since(started), answer=completion.text.strip()[:300] if quotes else "")


def key_is_set(row: ModelEndpoint) -> bool | None:
    """Whether this process has the endpoint's key; None if it needs none."""
    if not row.key_env:
        return None
    return bool(os.environ.get(row.key_env, "").strip())


def problem_of(row: ModelEndpoint) -> str:
    try:
        endpoint = Endpoint.of(row)
    except ValueError as problem:
        return str(problem)
    return "" if endpoint.base_url == SCRIPTED else internal_problem(endpoint.base_url)


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
