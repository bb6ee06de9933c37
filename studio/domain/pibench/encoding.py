"""Encodes YAML values as JSON, without loss."""

from __future__ import annotations

import base64
import datetime
import math
from collections.abc import Callable, Iterable
from typing import Any

TAG = "$yaml"
"""Key of a mapping that stands for what JSON cannot express: dates, times, inf, nan, bytes, sets, and mappings with
keys other than text (or with this key)."""
Encoded = Any
"""JSON-able: dict, list, str, int, float, bool or None."""


def encode_scalar(value: Any) -> Encoded:
    if isinstance(value, float) and not math.isfinite(value):
        return {TAG: "float", "value": repr(value)}
    if isinstance(value, datetime.datetime):
        return {TAG: "datetime", "value": value.isoformat()}
    if isinstance(value, datetime.date):
        return {TAG: "date", "value": value.isoformat()}
    if isinstance(value, bytes):
        return {TAG: "binary", "value": base64.b64encode(value).decode()}
    return value


def encode_mapping(pairs: list[tuple[Encoded, Encoded]]) -> Encoded:
    for key, _ in pairs:
        if not isinstance(key, str) or key == TAG:
            return {TAG: "map", "items": [[key, value] for key, value in pairs]}
    return dict(pairs)


def encode_set(keys: list[Encoded]) -> Encoded:
    return {TAG: "set", "items": keys}


def decode(value: Encoded, make_set: Callable[[Iterable[Any]], Any] = set) -> Any:
    if isinstance(value, list):
        return [decode(item, make_set) for item in value]
    if not isinstance(value, dict):
        return value
    match value.get(TAG):
        case None:
            return {key: decode(item, make_set) for key, item in value.items()}
        case "map":
            return {decode(key): decode(item, make_set) for key, item in value["items"]}
        case "set":
            return make_set(decode(key) for key in value["items"])
        case "float":
            return float(value["value"])
        case "datetime":
            return datetime.datetime.fromisoformat(value["value"])
        case "date":
            return datetime.date.fromisoformat(value["value"])
        case "binary":
            return base64.b64decode(value["value"])
        case other:
            raise ValueError(f"unknown encoding {other!r}")


def pairs_of(value: Encoded) -> list[tuple[Encoded, Encoded]] | None:
    """Keys and values of an encoded mapping; None if it is not a mapping."""
    if not isinstance(value, dict):
        return None
    if TAG not in value:
        return list(value.items())
    if value[TAG] == "map":
        return [(key, item) for key, item in value["items"]]
    return None


def set_key(mapping: Encoded, key: str, value: Encoded) -> Encoded:
    pairs = pairs_of(mapping) or []
    if any(name == key for name, _ in pairs):
        pairs = [(name, value if name == key else old) for name, old in pairs]
    else:
        pairs.append((key, value))
    return encode_mapping(pairs)


def remove_key(mapping: Encoded, key: str) -> Encoded:
    return encode_mapping([(name, value) for name, value in pairs_of(mapping) or [] if name != key])


def get_key(mapping: Encoded, key: str) -> Encoded | None:
    if isinstance(mapping, dict) and TAG not in mapping:
        return mapping.get(key)
    return next((value for name, value in pairs_of(mapping) or [] if name == key), None)
