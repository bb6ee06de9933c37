"""Retries: exponential backoff with full jitter, ``Retry-After``, and limits."""

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
    """Clock and randomness, replaceable in tests."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    """In [0, 1)."""


@dataclass(frozen=True)
class RetryPolicy:
    attempts: int = 6
    """Including the first."""
    base_seconds: float = 0.5
    max_pause: float = 60.0
    """Seconds. An endpoint that asks for a longer pause is not retried."""
    max_seconds: float = 600.0
    """From the first request to the end of the last pause."""

    def pause(self, error: EndpointError, attempt: int, elapsed: float, chance: float) -> float | None:
        """Seconds to wait after request ``attempt`` (from 1) failed; None to give up."""
        if not error.retryable or attempt >= self.attempts:
            return None
        jitter = chance * min(self.max_pause, self.base_seconds * 2 ** (attempt - 1))
        requested = error.retry_after
        if requested is not None and requested > self.max_pause:
            return None
        pause = jitter if requested is None else requested + chance * self.base_seconds
        return pause if elapsed + pause <= self.max_seconds else None


def retry_after(headers: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Seconds from ``retry-after-ms`` or ``Retry-After`` (a number or a date); None if neither is readable."""
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
