"""When to ask an endpoint again: full jitter, what the endpoint asks for, and an end to retry_policy."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from evaluation.llm.errors import EndpointError


@dataclass(frozen=True)
class Timing:
    """Time and chance, so that tests need not wait for either."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    """From 0 up to 1."""


@dataclass(frozen=True)
class RetryPolicy:
    attempts: int = 6
    """Requests sent at most, the first included."""
    base_seconds: float = 0.5
    max_pause: float = 60.0
    """Of one pause; an endpoint that asks for a longer one is given up on, with its wish in the failure."""
    max_seconds: float = 600.0
    """From the first request to the last pause."""

    def pause(self, failure: EndpointError, attempt: int, spent: float, chance: float) -> float | None:
        """Seconds to wait after the ``attempt``-th request (from 1) failed; None: give up."""
        if not failure.again or attempt >= self.attempts:
            return None
        jitter = chance * min(self.max_pause, self.base_seconds * 2 ** (attempt - 1))
        asked = failure.retry_after
        if asked is not None and asked > self.max_pause:
            return None
        pause = jitter if asked is None else asked + chance * self.base_seconds
        return pause if spent + pause <= self.max_seconds else None


def retry_after(headers: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Seconds that ``retry-after-ms`` or ``Retry-After`` ask for (a number, or a date); None: nothing readable."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if 0 <= seconds < 1e9:
            return seconds
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now()).total_seconds())
