"""What can go wrong at an endpoint. All of it is ours: an agent is never blamed for it.

The texts go into rows, pages and logs: they never hold a key, and quote little of what an endpoint said.
"""

from __future__ import annotations

from evaluation.protocol.participants import InfrastructureError


class EndpointError(InfrastructureError):
    """A call gave no usable answer."""

    again = False
    """Whether the same request may succeed a moment later."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds the endpoint asked to wait."""


class RateLimitError(EndpointError):
    again = True


class QuotaExceededError(EndpointError):
    """The account at the endpoint has nothing left: waiting does not help."""


class ServerError(EndpointError):
    again = True


class EndpointTimeoutError(EndpointError):
    again = True


class EndpointUnreachableError(EndpointError):
    again = True


class TruncatedAnswerError(EndpointError):
    """The connection ended before the answer did."""

    again = True


class UnreadableAnswerError(EndpointError):
    """Not JSON, too large, or without a choice."""

    again = True


class RequestRejectedError(EndpointError):
    """The endpoint understood the request and will not have it."""


class ContextTooLongError(RequestRejectedError):
    """More than the model can read. An agent that let its conversation grow so long may be asked about it."""


class MissingKeyError(EndpointError):
    """The environment variable that should hold the key is not set."""


class KeyRejectedError(EndpointError):
    pass


class BudgetExceededError(InfrastructureError):
    """A limit on calls, tokens or cost is reached; nothing was sent."""


class UnusableJsonError(InfrastructureError):
    """The model was asked often enough, and never gave an answer that could be used."""
