"""What an endpoint's answers say about the rate of requests and tokens it allows."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from evaluation.llm.retry import retry_after

HOLD_SECONDS = 1.0
"""After a 429 that does not say how long to wait."""
LONGEST_HOLD = 600.0
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NAMES = {
    kind: tuple(
        (prefix.format(kind=kind, what="remaining"), prefix.format(kind=kind, what="reset"))
        for prefix in ("x-ratelimit-{what}-{kind}", "anthropic-ratelimit-{kind}-{what}")
    )
    for kind in ("requests", "tokens")
}
"""Headers: what is left, and when it is full again."""


@dataclass(frozen=True)
class Rates:
    """Times are Unix times; None where an answer said nothing."""

    hold_until: float = 0.0
    """Nothing is sent before."""
    requests: int | None = None
    """Left until ``requests_at``."""
    requests_at: float = 0.0
    tokens: int | None = None
    tokens_at: float = 0.0

    def merge(self, newer: Rates) -> Rates:
        requests, requests_at = (
            (self.requests, self.requests_at) if newer.requests is None else (newer.requests, newer.requests_at)
        )
        tokens, tokens_at = (self.tokens, self.tokens_at) if newer.tokens is None else (newer.tokens, newer.tokens_at)
        return Rates(max(self.hold_until, newer.hold_until), requests, requests_at, tokens, tokens_at)


NOTHING = Rates()


def read_rates(status: int, headers: Mapping[str, str], now: float | None = None) -> Rates:
    now = time.time() if now is None else now
    hold = 0.0
    if status in (429, 503):
        wait = retry_after(headers)
        if status == 429 or wait:
            hold = now + min(HOLD_SECONDS if wait is None else wait, LONGEST_HOLD)
    requests, requests_at = _left("requests", headers, now)
    tokens, tokens_at = _left("tokens", headers, now)
    if not hold and requests is None and tokens is None:
        return NOTHING
    return Rates(hold, requests, requests_at, tokens, tokens_at)


def _left(kind: str, headers: Mapping[str, str], now: float) -> tuple[int | None, float]:
    for left, full in _NAMES[kind]:
        remaining = headers.get(left, "")
        if remaining.strip().isdigit():
            reset = _seconds(headers.get(full, ""), now)
            return int(remaining), now + min(60.0 if reset is None else reset, LONGEST_HOLD)
    return None, 0.0


def _seconds(text: str, now: float) -> float | None:
    """From ``6m0s``, ``120ms``, a number of seconds or a time in ISO 8601."""
    text = text.strip()
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - now)
    except ValueError:
        return None
