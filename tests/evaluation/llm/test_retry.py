from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.llm import RateLimitError, RequestRejectedError, RetryPolicy, ServerError
from evaluation.llm.retry import retry_after

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:10 GMT"}, 10),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(headers: dict[str, str], seconds: float | None):
    assert retry_after(headers, lambda: NOON) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_header_is_tolerated(value: str):
    seconds = retry_after({"retry-after": value}, lambda: NOON)

    assert seconds is None or seconds >= 0


@given(
    attempt=st.integers(1, 200),
    spent=st.floats(0, 1000),
    chance=st.floats(0, 1, exclude_max=True),
    asked=st.none() | st.floats(0, 1e6),
)
def test_pause_never_exceeds_the_policy(attempt: int, spent: float, chance: float, asked: float | None):
    retry_policy = RetryPolicy(attempts=10, base_seconds=0.5, max_pause=30, max_seconds=600)

    pause = retry_policy.pause(RateLimitError("slow down", retry_after=asked), attempt, spent, chance)

    if pause is not None:
        assert attempt < 10
        assert spent + pause <= 600
        assert pause <= 30 + 0.5
        assert asked is None or pause >= asked


def test_a_pause_that_was_asked_for_is_spread_so_that_not_all_come_back_at_once():
    error = RateLimitError("slow down", retry_after=5.0)

    assert [RetryPolicy(base_seconds=0.5).pause(error, 1, 0, chance) for chance in (0.0, 0.5)] == [5.0, 5.25]


def test_permanent_failures_are_not_retried():
    retry_policy = RetryPolicy()

    assert retry_policy.pause(RequestRejectedError("no"), 1, 0, 0.5) is None
    assert retry_policy.pause(ServerError("broke"), 1, 0, 0.5) == 0.25
