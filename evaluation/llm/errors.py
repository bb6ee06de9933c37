"""Failures of endpoints, never counted against an agent.

Their messages go into rows, pages and logs: they never contain a key, and quote little of an endpoint's message.
"""

from __future__ import annotations

from evaluation.protocol.participants import InfrastructureError


class EndpointError(InfrastructureError):
    """A call gave no usable answer."""

    def __init__(self, message: str, *, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(message + detail)
        self.own_words = f"{message}." if detail else message
        """The message without what the endpoint wrote, ``detail``."""
        self.retry_after = retry_after

    ending = ""
    """How a call ended that failed so, if that is counted."""
    advice = ""
    """What to set, where the service said it."""


class RateLimitError(EndpointError):
    retryable = True


class QuotaExceededError(EndpointError):
    """The account's quota is spent; waiting does not help."""

    hopeless = True


class ServerError(EndpointError):
    retryable = True


class EndpointTimeoutError(EndpointError):
    ending = "timed_out"
    retryable = True


class EndpointUnreachableError(EndpointError):
    retryable = True


class EndpointAddressError(EndpointError):
    """The address is inside an internal network that settings do not name; nothing was sent."""

    hopeless = True


class TruncatedAnswerError(EndpointError):
    """The connection ended before the answer did."""

    ending = "broken_off"
    retryable = True


class UnreadableAnswerError(EndpointError):
    """Not JSON, too large, or without a choice."""

    retryable = True


class RequestRejectedError(EndpointError):
    """The same request would be refused again."""

    hopeless = True
    complaint = ""
    """All that the service says of it, with the name of the parameter; for ``Learned``."""


class ContextTooLongError(RequestRejectedError):
    """The conversation exceeds the model's context. Agents handle this one."""

    ending = "too_long"


class ContextCutError(EndpointError):
    """The service answered, but says it has read far less than was sent: it cuts conversations without a word."""

    hopeless = True

    def __init__(self, message: str, read: int) -> None:
        super().__init__(message)
        self.read = read
        """Tokens."""


class ContentFilteredError(EndpointError):
    """The service's filter did not let the request or the answer through."""

    ending = "filtered"
    hopeless = True


class MissingKeyError(EndpointError):
    hopeless = True


class KeyRejectedError(EndpointError):
    hopeless = True


class BudgetExceededError(InfrastructureError):
    """A limit on calls, tokens or cost is reached; nothing was sent."""


class UnusableJsonError(InfrastructureError):
    """No answer was usable within the allowed tries."""

    hopeless = True
