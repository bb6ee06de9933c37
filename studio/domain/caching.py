"""Results of pure functions of texts, remembered: those of many short texts and of a few long ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

Value = TypeVar("Value")
Parameters = ParamSpec("Parameters")

SHORT, LONG = 4_096, 32
"""Results kept of each function. What is read of a text may take forty times its room, and a file has up to 40,000
characters."""
LONG_TEXT = 2_000
"""Characters above which a text is long."""


def cached(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """``function`` takes texts, or tuples or sets of them, by position."""
    short, long = lru_cache(SHORT)(function), lru_cache(LONG)(function)

    @wraps(function)
    def read(*arguments: str) -> Value:
        return (long if max(map(len, arguments)) > LONG_TEXT else short)(*arguments)

    return cast("Callable[Parameters, Value]", read)
