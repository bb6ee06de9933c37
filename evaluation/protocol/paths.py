"""The path grammar of ``objectives.tools`` (PIBENCH.md, section 1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

MISSING: Final = object()
MAX_DIGITS = 9


def value_at(value: Any, path: str) -> Any:
    """The value at ``path``, or MISSING. No wildcards.

    A token is the exact key of a mapping or an index within a list; anything else is missing.
    """
    for token in (part.strip() for part in path.split(".")):
        if isinstance(value, Mapping):
            if token not in value:
                return MISSING
            value = value[token]
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            if not (token.isascii() and token.isdigit() and len(token) <= MAX_DIGITS and int(token) < len(value)):
                return MISSING
            value = value[int(token)]
        else:
            return MISSING
    return value


def parse_result(result: str) -> Any:
    """A tool's result as data: JSON is parsed once, without the strings within it; other text stays text."""
    try:
        return json.loads(result)
    except (ValueError, RecursionError):
        return result
