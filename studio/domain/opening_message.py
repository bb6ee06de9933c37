"""The opening of a session: the user's request, or an event that nobody said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.domain.task import TaskSpec, Trigger

_SIGNALS = {
    "webhook": "A webhook arrived.",
    "heartbeat": "This is a scheduled check-in; nobody has written to you.",
    "feed": "New entries appeared in a feed you watch.",
    "file_drop": "A file was placed in the workspace.",
    "helpers": "Helpers that you had started have finished.",
    "schedule": "What you scheduled is due.",
}
EVENT_MARK = "[Environment signal: "
"""How the text of every event begins."""
NOTICE_MARK = "[Not from the user] "
"""How a user's message begins in which an agent's loop tells its model something."""


@dataclass(frozen=True)
class EnvironmentEvent:
    """Something that happened around an agent."""

    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    """The text sent with it."""

    @property
    def sentence(self) -> str:
        return _SIGNALS[self.kind]

    @property
    def data(self) -> str:
        """The payload as it is shown; empty without one."""
        return json.dumps(self.payload, ensure_ascii=False, indent=2, default=str) if self.payload else ""

    @property
    def text(self) -> str:
        """As an agent reads it."""
        parts = [f"{EVENT_MARK}{self.kind}] {self.sentence}"]
        if self.data:
            parts.append(f"```json\n{self.data}\n```")
        if self.note.strip():
            parts.append(self.note)
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "payload": dict(self.payload), "note": self.note}


Incoming = str | EnvironmentEvent
"""What an agent is given at the start of a turn: words of the user, or an event."""


def opening_of(task: TaskSpec) -> Incoming:
    """A user's request is sent verbatim. An environment trigger is an event, for which the published release has no
    machinery (PIBENCH.md, section 4, point 2)."""
    return opening(task.trigger, task.initial_request)


def opening(trigger: Trigger, request: str) -> Incoming:
    return request if trigger.kind == "user_message" else EnvironmentEvent(trigger.kind, trigger.payload, request)


def text_of(incoming: Incoming) -> str:
    return incoming if isinstance(incoming, str) else incoming.text


def opening_message(task: TaskSpec) -> str:
    """As the agent reads it."""
    return text_of(opening_of(task))
