"""Checking model endpoints, and asking owners for one."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.urls import reverse

from evaluation.llm import Budget, Endpoint, EndpointError, ModelClient, RetryPolicy, internal_problem, is_internal
from evaluation.llm.addresses import owner_problem
from evaluation.llm.endpoint import SCRIPTED
from evaluation.models import ModelEndpoint
from studio.models import Benchmark, Notification, Role, User
from studio.notifications.notify import notify

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
    if not row.key_env and not row.sealed_key:
        return None
    try:
        return bool(Endpoint.of(row).key())
    except (EndpointError, ValueError):
        return False


def problem_of(row: ModelEndpoint) -> str:
    try:
        endpoint = Endpoint.of(row)
    except ValueError as error:
        return str(error)
    if endpoint.base_url == SCRIPTED:
        return ""
    problem = owner_problem(endpoint.base_url) if row.benchmark_id is not None else ""
    return problem or internal_problem(endpoint.base_url)


def request_model(benchmark: Benchmark, text: str, *, by: User) -> None:
    """Ask the owners to connect a model."""
    owners = benchmark.memberships.filter(role=Role.OWNER).values_list("user_id", flat=True)
    words = " ".join(text.split())
    notify(
        owners,
        Notification.Kind.MODEL_REQUESTED,
        f"asks for a model: “{words}”" if words else "asks for a model to try tasks with.",
        benchmark=benchmark,
        address=reverse("evaluation:benchmark_endpoints", args=[benchmark.slug]),
        by=by,
    )


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
