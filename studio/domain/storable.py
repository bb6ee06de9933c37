"""Sanitizes external text for PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def storable(value: Any) -> Any:
    """The value with NUL and lone surrogates replaced by replacement characters."""
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
    """The stripped text without NUL, which PostgreSQL cannot store."""
    return text.replace("\0", "").strip()
