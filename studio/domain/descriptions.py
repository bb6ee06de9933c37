"""What the nested parts of a task say, in words: where an intent is found out, what a rule asks, data."""

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
"""Other values stand for themselves."""
CODED_KEYS = ("scope", "initial_status", "grader", "kind")


def label_of(key: str) -> str:
    return KEY_LABELS.get(key, key.replace("_", " "))


def describe_value(value: Any, key: str = "") -> str:
    """A value in words. Texts stand as they are, lists and mappings one thing a line."""
    if isinstance(value, str):
        if key == "sha256":
            return value[:12]
        return VALUE_LABELS.get(value, value.replace("_", " ")) if key in CODED_KEYS else value
    if isinstance(value, bool) or value is None:
        return VALUE_LABELS[value]
    if isinstance(value, list | tuple):
        if key == "follows_from":
            return ", ".join(str(one) for one in value)
        return "\n".join(
            _in_lines(describe_value(one, key)) if isinstance(one, list) else describe_value(one, key) for one in value
        )
    if isinstance(value, Mapping):
        if key == "recoverable_from":
            return _recovery(value)
        if key == "rule":
            return _rule(value)
        if key == "reference":
            return f"{value['size']:,} bytes, content {value['sha256'][:12]}"
        return "\n".join(
            f"{label_of(name)}:{_after(describe_value(inner, name))}"
            for name, inner in value.items()
            if inner not in ("", [], {})
        )
    return json.dumps(value, ensure_ascii=False)


def with_numbered_links(task: Mapping[str, Any]) -> dict[str, Any]:
    """The task as JSON with its items' links to intents as the numbers a person sees."""
    places = {row["uid"]: place for place, row in enumerate(task.get("intents", ()), 1)}
    if not places:
        return dict(task)
    rows = [
        {**row, "follows_from": [places[uid] for uid in row.get("follows_from", ()) if uid in places]}
        for row in task.get("checklist", ())
    ]
    return {**task, "checklist": rows}


def _recovery(value: Mapping[str, Any]) -> str:
    what = SOURCE_LABELS.get(value.get("kind", ""), describe_value(value.get("kind"), "kind"))
    return " ".join(filter(None, [what, value.get("ref"), f"– {value['note']}" if value.get("note") else ""]))


def _rule(value: Mapping[str, Any]) -> str:
    what = RULE_LABELS.get(value.get("kind", ""), describe_value(value.get("kind"), "kind"))
    parts = [what, value.get("path"), value.get("tool"), f"“{value['text']}”" if value.get("text") else ""]
    if value.get("arguments"):
        parts.append(f"with {json.dumps(value['arguments'], ensure_ascii=False)}")
    return " ".join(filter(None, parts))


def _after(text: str) -> str:
    return f"\n{_in_lines(text)}" if "\n" in text else f" {text}"


def _in_lines(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
