"""The only way to model endpoints: calls have a time limit, a budget and retries, and are recorded.

client = ModelClient(Endpoint(name, base_url, model), recorder=..., budget=Budget(max_tokens=200_000))
completion = client.complete(messages, tools=[...])
decisions, completion = client.ask_json(messages, "decisions", schema, parse)
"""

from evaluation.llm.budget import Budget
from evaluation.llm.client import Call, ModelClient, Recorder
from evaluation.llm.completion import Completion, RequestedToolCall
from evaluation.llm.endpoint import Endpoint, EndpointLimits, Prices
from evaluation.llm.errors import (
    BudgetExceededError,
    ContentFilteredError,
    ContextCutError,
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
from evaluation.llm.learned import Learned
from evaluation.llm.policy import Policy, is_internal
from evaluation.llm.retry import RetryPolicy, Timing
from evaluation.llm.slots import Lane, Slots
