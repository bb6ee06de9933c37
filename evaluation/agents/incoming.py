"""What opens a turn, as a message of a chat."""

from __future__ import annotations

from typing import Any

from studio.domain.opening_message import EVENT_MARK, EnvironmentEvent, Incoming

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
