"""The one door to model endpoints: every call has a time limit, a budget, retries, and is recorded.

door = Door(Endpoint.of(row), recorder=..., budget=Budget(max_tokens=200_000))
completion = door.complete(messages, tools=[...])
decisions, completion = door.ask_json(messages, "decisions", schema, parse)
"""

from evaluation.llm.budget import Budget
from evaluation.llm.client import Call, Door, Recorder
from evaluation.llm.completion import AskedCall, Completion
from evaluation.llm.endpoint import Endpoint, Limits, Prices
from evaluation.llm.errors import (
    BudgetSpent,
    ContextTooLong,
    CutOff,
    EndpointFailed,
    KeyMissing,
    KeyRefused,
    QuotaSpent,
    RateLimited,
    RequestRefused,
    ServerFailed,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
    UnusableJson,
)
from evaluation.llm.retry import Patience, Timing

__all__ = [
    "AskedCall",
    "Budget",
    "BudgetSpent",
    "Call",
    "Completion",
    "ContextTooLong",
    "CutOff",
    "Door",
    "Endpoint",
    "EndpointFailed",
    "KeyMissing",
    "KeyRefused",
    "Limits",
    "Patience",
    "Prices",
    "QuotaSpent",
    "RateLimited",
    "Recorder",
    "RequestRefused",
    "ServerFailed",
    "TimedOut",
    "Timing",
    "Unreachable",
    "UnreadableAnswer",
    "UnusableJson",
]
