"""The only way to model endpoints: calls have a time limit, a budget and retries, and are recorded.

client = ModelClient(Endpoint.of(row), recorder=..., budget=Budget(max_tokens=200_000))
completion = client.complete(messages, tools=[...])
decisions, completion = client.ask_json(messages, "decisions", schema, parse)
"""

from evaluation.llm.addresses import internal_problem, is_internal
from evaluation.llm.admission import calls_in_flight
from evaluation.llm.budget import Budget
from evaluation.llm.client import Call, ModelClient, Recorder
from evaluation.llm.completion import Completion, RequestedToolCall
from evaluation.llm.endpoint import Endpoint, EndpointLimits, Prices
from evaluation.llm.errors import (
    BudgetExceededError,
    ContextTooLongError,
    EndpointError,
    EndpointTimeoutError,
    EndpointUnreachableError,
    KeyRejectedError,
    MissingKeyError,
    QuotaExceededError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
    TruncatedAnswerError,
    UnreadableAnswerError,
    UnusableJsonError,
)
from evaluation.llm.retry import RetryPolicy, Timing

__all__ = [
    "Budget",
    "BudgetExceededError",
    "Call",
    "Completion",
    "ContextTooLongError",
    "Endpoint",
    "EndpointError",
    "EndpointLimits",
    "EndpointTimeoutError",
    "EndpointUnreachableError",
    "KeyRejectedError",
    "MissingKeyError",
    "ModelClient",
    "Prices",
    "QuotaExceededError",
    "RateLimitError",
    "Recorder",
    "RequestRejectedError",
    "RequestedToolCall",
    "RetryPolicy",
    "ServerError",
    "Timing",
    "TruncatedAnswerError",
    "UnreadableAnswerError",
    "UnusableJsonError",
    "calls_in_flight",
    "internal_problem",
    "is_internal",
]
