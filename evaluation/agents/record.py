"""A conversation as text, for a model that is to shorten or consolidate it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.llm.thoughts import said_in
from studio.domain.opening_message import EVENT_MARK, NOTICE_MARK

MAX_RESULT = 4_000
"""Characters of a tool's result."""


def write_record(messages: Sequence[Mapping[str, Any]]) -> str:
    """Without the system message that briefs the agent."""
    return "\n".join(line for message in messages for line in _lines(message))


def is_opening(message: Mapping[str, Any]) -> bool:
    """Whether it opens a turn: words of the user, or an event."""
    text = message.get("content")
    if not isinstance(text, str):  # pictures that a tool read
        return False
    if message["role"] == "user":
        return not text.startswith(NOTICE_MARK)
    return message["role"] == "system" and text.startswith(EVENT_MARK)


def words_of(message: Mapping[str, Any]) -> str:
    """Without thoughts: what is made of it is kept where others read it."""
    if message["role"] == "assistant":
        return said_in(message)
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(part.get("text", "[picture]")) for part in content if isinstance(part, Mapping))
    return str(content or "")


def _lines(message: Mapping[str, Any]) -> list[str]:
    role, text = message["role"], words_of(message)
    if role == "system":
        return [f"EVENT: {text}"] if is_opening(message) else []
    if role == "tool":
        return [f"RESULT: {text if len(text) <= MAX_RESULT else text[:MAX_RESULT] + ' [cut]'}"]
    if role == "user" and not is_opening(message):
        return [f"SHOWN: {text}"]
    lines = [f"{role.upper()}: {text}"] if text else []
    functions = (call["function"] for call in message.get("tool_calls") or ())
    return lines + [f"CALL: {function['name']}({function['arguments']})" for function in functions]
