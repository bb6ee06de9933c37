"""YAML of which every text is quoted as JSON quotes it, so that no text can be read as anything else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evaluation.releases.documents.markdown import printable

Value = str | bool | Sequence["Value"] | Mapping[str, "Value"]


def yaml_text(values: Mapping[str, Value]) -> str:
    """Keys are plain words of ours."""
    return "".join(f"{key}: {_flow(value)}\n" for key, value in values.items())


def _flow(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(printable(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]"
