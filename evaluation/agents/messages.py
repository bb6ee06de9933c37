"""What opens a turn, as a message of a chat; and a conversation as text, for a model that is to shorten it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.llm.thoughts import said_in
from studio.domain.opening_message import EVENT_MARK, NOTICE_MARK, EnvironmentEvent, Incoming

NOBODY = "(This is an event. Nobody has written to you.)\n\n"
USER_WRITES = "[The user writes]"


def as_chat(incoming: Incoming, loop: int = 2) -> dict[str, Any]:
    """In the first version of the agent's loop an event comes from the system."""
    if not isinstance(incoming, EnvironmentEvent):
        return {"role": "user", "content": incoming}
    if loop == 1:
        return {"role": "system", "content": incoming.text}
    return {"role": "user", "content": _marked(incoming)}


def _marked(event: EnvironmentEvent) -> str:
    """Models answer users. The author's words stand apart from the machine's."""
    parts = [f"{EVENT_MARK}{event.kind}] {event.sentence} This is an event: the user has not written to you."]
    if event.data:
        parts.append(f"Its data:\n```json\n{event.data}\n```")
    if event.note.strip():
        parts.append(f"Its text:\n<text>\n{event.note.strip()}\n</text>")
    return "\n\n".join(parts)


def put(messages: list[dict[str, Any]], message: dict[str, Any]) -> None:
    """Add what comes from outside: no message of a user follows another one."""
    last = messages[-1] if messages else {}
    if last.get("role") != "user" or message["role"] != "user":
        messages.append(message)
    elif isinstance(last["content"], str) and isinstance(message["content"], str):
        said = "" if message["content"].startswith(EVENT_MARK) else f"{USER_WRITES}\n"
        last["content"] = f"{last['content']}\n\n{said}{message['content']}"
    else:
        last["content"] = [*_parts(last["content"]), *_parts(message["content"])]


def _parts(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def without_system_events(messages: list[dict[str, Any]]) -> bool:
    """For models that answer only users: send events as user messages that say what they are. False if there is none
    to change."""
    events = [each for each in messages if each["role"] == "system" and str(each["content"]).startswith(EVENT_MARK)]
    for message in events:
        message |= {"role": "user", "content": NOBODY + message["content"]}
    return bool(events)


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
