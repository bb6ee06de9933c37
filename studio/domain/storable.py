"""External text and JSON, so that PostgreSQL can store them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn


def storable(value: Any) -> Any:
    """The value with NUL and lone surrogates replaced by replacement characters."""
    if isinstance(value, str):
        if "\0" not in value and value.isascii():
            return value
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, (dict, list)) and _is_storable(value):
        return value
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value


def read_json(text: str | bytes) -> Any:
    """Raises ValueError, also for what Python accepts and JSON does not: NaN, Infinity and numbers too large."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a valid number there")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        _refuse(digits[:20])
    return number


def _is_storable(value: Any) -> bool:
    """Whether JSON of it certainly is; twenty times as fast as looking at each text."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return "\\u0000" not in text and "\\ud" not in text


def normalize_newlines(text: str) -> str:
    """As line feeds, which browsers and other systems write otherwise."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def storable_text(text: str) -> str:
    """The stripped text without NUL, which PostgreSQL cannot store."""
    return text.replace("\0", "").strip()
