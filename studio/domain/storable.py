"""Text from outside, as PostgreSQL can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def storable(value: Any) -> Any:
    """The same value without NUL and half surrogates, which become replacement characters."""
    if isinstance(value, str):
        if "\0" not in value and value.isascii():
            return value
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    return value


def storable_text(text: str) -> str:
    """Without NUL, which PostgreSQL cannot hold, and without white space around it."""
    return text.replace("\0", "").strip()
