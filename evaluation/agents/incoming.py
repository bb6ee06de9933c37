"""What opens a turn, as a message of a chat."""

from __future__ import annotations

from typing import Any

from studio.domain.opening_message import EVENT_MARK, EnvironmentEvent, Incoming

NOBODY = "(This is an event. Nobody has written to you.)\n\n"


def as_chat(incoming: Incoming) -> dict[str, Any]:
    """An event comes from the system, not from the user."""
    if isinstance(incoming, EnvironmentEvent):
        return {"role": "system", "content": incoming.text}
    return {"role": "user", "content": incoming}


def without_system_events(messages: list[dict[str, Any]]) -> bool:
    """For models that answer only users: send events as user messages that say what they are. False if there is none
    to change."""
    events = [each for each in messages if each["role"] == "system" and str(each["content"]).startswith(EVENT_MARK)]
    for message in events:
        message |= {"role": "user", "content": NOBODY + message["content"]}
    return bool(events)
