"""Records as JSON objects."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any


def as_dict(record: Any) -> dict[str, Any]:
    """Like ``dataclasses.asdict`` for records, many times faster: what is in them is never copied."""
    return {
        name: tuple(map(as_dict, value)) if isinstance(value, tuple) and value and is_dataclass(value[0]) else value
        for name, value in vars(record).items()
    }


def without_owner(record: Any) -> dict[str, Any]:
    shown = as_dict(record)
    del shown["owner"]
    return shown
