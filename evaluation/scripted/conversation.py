"""A conversation read from a request: messages, tools, and answered tool calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from studio.domain.opening_message import EVENT_MARK, NOTICE_MARK

_MEMORY = re.compile(r"<memory>\n?(.*?)\n?</memory>", re.DOTALL)


@dataclass(frozen=True)
class AnsweredCall:
    name: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class Conversation:
    system: str
    messages: tuple[str, ...]
    """The user's, and the event that opened the session."""
    calls: tuple[AnsweredCall, ...]
    """All answered tool calls, oldest first."""
    step: int
    """Model calls since the last user message."""
    calls_this_turn: int = 0
    """How many of ``calls`` came since the last user message."""
    tools: frozenset[str] = field(default_factory=frozenset)

    @property
    def turn(self) -> int:
        return len(self.messages)

    @property
    def memory(self) -> str:
        match = _MEMORY.search(self.system)
        text = match[1] if match else ""
        for call in self.calls:
            if call.arguments.get("path") == "MEMORY.md" and call.name == "write_file":
                text = str(call.arguments.get("content", ""))
        return text

    def last(self, name: str) -> AnsweredCall | None:
        return next((call for call in reversed(self.calls) if call.name == name), None)


def read_conversation(messages: Sequence[Any], tools: Sequence[Any]) -> Conversation:
    """Never raises; unreadable parts are left out."""
    system: list[str] = []
    user_messages: list[str] = []
    answered: list[AnsweredCall] = []
    requested: dict[str, tuple[str, Mapping[str, Any]]] = {}
    step = before = 0
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        role, text = message.get("role"), message_text(message)
        if role == "user" and text.startswith(NOTICE_MARK):
            continue
        event = text.startswith(EVENT_MARK)
        if role in ("system", "developer") and not event:
            system.append(text)
        elif (role == "user" and not _shows_pictures(message)) or (event and role in ("system", "developer")):
            user_messages.append(text)
            step = 0
            before = len(answered)
        elif role == "assistant":
            step += 1
            for call in filter(_is_call, _list(message.get("tool_calls"))):
                function = call["function"]
                requested[str(call.get("id"))] = (str(function.get("name")), _arguments(function.get("arguments")))
        elif role == "tool" and (call := requested.get(str(message.get("tool_call_id")))):
            answered.append(AnsweredCall(*call, text))
    names = frozenset(str(tool["function"].get("name")) for tool in filter(_is_call, tools))
    return Conversation("\n".join(system), tuple(user_messages), tuple(answered), step, len(answered) - before, names)


def _is_call(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("function"), Mapping)


def _shows_pictures(message: Mapping[str, Any]) -> bool:
    """What a tool gave to look at, which can only be sent as the user's."""
    return any(isinstance(part, Mapping) and part.get("type") == "image_url" for part in _list(message.get("content")))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def message_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _arguments(text: Any) -> Mapping[str, Any]:
    try:
        arguments = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
