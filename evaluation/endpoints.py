"""Model endpoints: who may be asked, and whether asking works. Keys stay in the environment."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from evaluation.llm import Budget, Endpoint, EndpointError, ModelClient, RetryPolicy
from evaluation.models import ModelEndpoint
from evaluation.protocol.participants import InfrastructureError

QUESTION = "Answer with the one word: ready."
TRIAL_TOKENS = 64
KINDS = {
    "MissingKeyError": "no key",
    "KeyRejectedError": "key refused",
    "EndpointUnreachableError": "cannot be reached",
    "EndpointTimeoutError": "too slow",
    "TruncatedAnswerError": "cut off",
    "RateLimitError": "too many requests",
    "QuotaExceededError": "quota spent",
    "ServerError": "failing",
    "UnreadableAnswerError": "unreadable answer",
    "RequestRejectedError": "request refused",
    "ContextTooLongError": "request refused",
}
"""A failure's class in two words."""


@dataclass(frozen=True)
class EndpointCheck:
    """What came of one small question."""

    works: bool
    milliseconds: int
    answer: str = ""
    kind: str = ""
    """Of a failure, in words: ``key refused``."""
    message: str = ""
    """Of a failure: what happened, without a key in it."""


def check_endpoint(row: ModelEndpoint) -> EndpointCheck:
    """Ask one tiny question, once, and say how it went. Nothing is stored; it may cost a few tokens."""
    began = time.monotonic()
    try:
        client = ModelClient(Endpoint.of(row), budget=Budget(), retry_policy=RetryPolicy(attempts=1))
        completion = client.complete([{"role": "user", "content": QUESTION}], max_tokens=TRIAL_TOKENS)
    except (InfrastructureError, ValueError) as failure:
        kind = KINDS.get(type(failure).__name__, "failed" if isinstance(failure, EndpointError) else "not usable")
        return EndpointCheck(False, _since(began), kind=kind, message=str(failure))
    return EndpointCheck(True, _since(began), answer=completion.text.strip()[:300])


def key_is_set(row: ModelEndpoint) -> bool | None:
    """Whether this process has the endpoint's key now; None: it needs none. Never the key."""
    if not row.key_env:
        return None
    return bool(os.environ.get(row.key_env, "").strip())


def problem_of(row: ModelEndpoint) -> str:
    """Why an endpoint cannot be one; empty: it can."""
    try:
        Endpoint.of(row)
    except ValueError as problem:
        return str(problem)
    return ""


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
