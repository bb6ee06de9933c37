"""Readable descriptions of a task's nested values: sources of intents, exact checks, data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

SOURCE_LABELS = {
    "session": "an earlier task",
    "file": "a file",
    "profile": "the profile",
    "tool": "a tool",
    "memory": "memory",
    "question": "asking",
}
RULE_LABELS = {
    "file_contains": "the file contains",
    "file_lacks": "the file does not contain",
    "file_exists": "the file exists",
    "reply_contains": "the last reply contains",
    "reply_lacks": "the last reply does not contain",
    "tool_called": "the tool was called",
    "record_exists": "this record is there at the end",
    "record_gone": "this record is gone at the end",
    "nothing_else_changed": "nothing else was changed",
}
KEY_LABELS = {
    "recoverable_from": "found out from",
    "initial_status": "at the start",
    "rule": "rule",
    "evidence": "evidence",
    "follows_from": "tests intent",
    "carries_over": "carries over",
    "call": "fields of the call",
    "result": "fields of the result",
    "sha256": "content",
}
VALUE_LABELS = {
    "session_local": "this session",
    "not_provided": "not stated",
    "provided": "stated",
    "rubric": "a judge decides",
    "user_message": "the user writes",
    True: "yes",
    False: "no",
    None: "nothing",
}
"""Other values are shown as they are."""
CODED_KEYS = ("scope", "initial_status", "grader", "kind")


def label_of(key: str) -> str:
    return KEY_LABELS.get(key, key.replace("_", " "))


def describe_value(value: Any, key: str = "") -> str:
    if isinstance(value, str):
        if key == "sha256":
            return value[:12]
        return VALUE_LABELS.get(value, value.replace("_", " ")) if key in CODED_KEYS else value
    if isinstance(value, bool) or value is None:
        return VALUE_LABELS[value]
    if isinstance(value, list | tuple):
        if key == "follows_from":
            return ", ".join(str(item) for item in value)
        return "\n".join(
            _indent(describe_value(item, key)) if isinstance(item, list) else describe_value(item, key)
            for item in value
        )
    if isinstance(value, Mapping):
        if key == "recoverable_from":
            return _describe_source(value)
        if key == "rule":
            return _describe_exact_check(value)
        if key == "reference":
            return f"{value['size']:,} bytes, content {value['sha256'][:12]}"
        return "\n".join(
            f"{label_of(name)}:{_on_own_lines(describe_value(inner, name))}"
            for name, inner in value.items()
            if inner not in ("", [], {})
        )
    return json.dumps(value, ensure_ascii=False)


def with_numbered_links(task: Mapping[str, Any]) -> dict[str, Any]:
    """The task as JSON, with checklist items linked to intents by number instead of uid."""
    positions = {row["uid"]: position for position, row in enumerate(task.get("intents", ()), 1)}
    if not positions:
        return dict(task)
    rows = [
        {**row, "follows_from": [positions[uid] for uid in row.get("follows_from", ()) if uid in positions]}
        for row in task.get("checklist", ())
    ]
    return {**task, "checklist": rows}


def _describe_source(value: Mapping[str, Any]) -> str:
    label = SOURCE_LABELS.get(value.get("kind", ""), describe_value(value.get("kind"), "kind"))
    return " ".join(filter(None, [label, value.get("ref"), f"– {value['note']}" if value.get("note") else ""]))


def _describe_exact_check(value: Mapping[str, Any]) -> str:
    label = RULE_LABELS.get(value.get("kind", ""), describe_value(value.get("kind"), "kind"))
    place = ".".join(filter(None, [value.get("app"), value.get("table")]))
    parts = [label, value.get("path"), value.get("tool"), place, f"“{value['text']}”" if value.get("text") else ""]
    if value.get("arguments"):
        parts.append(f"with {json.dumps(value['arguments'], ensure_ascii=False)}")
    if value.get("containing"):
        parts.append(f"containing {json.dumps(value['containing'], ensure_ascii=False)}")
    return " ".join(filter(None, parts))


def _on_own_lines(text: str) -> str:
    return f"\n{_indent(text)}" if "\n" in text else f" {text}"


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
