"""The first message of a session: the user's request, or an environment signal."""

from __future__ import annotations

import json

from studio.domain.task import TaskSpec, Trigger

_SIGNALS = {
    "webhook": "A webhook arrived.",
    "heartbeat": "This is a scheduled check-in; nobody has written to you.",
    "feed": "New entries appeared in a feed you watch.",
    "file_drop": "A file was placed in the workspace.",
}


def opening_message(task: TaskSpec) -> str:
    """A user's request is sent verbatim.

    The published release has no support for environment triggers (PIBENCH.md, section 4, point 2): here the signal is
    announced with its payload, followed by the request if there is one.
    """
    return render_opening(task.trigger, task.initial_request)


def render_opening(trigger: Trigger, request: str) -> str:
    if trigger.kind == "user_message":
        return request
    parts = [f"[Environment signal: {trigger.kind}] {_SIGNALS[trigger.kind]}"]
    if trigger.payload:
        parts.append("```json\n" + json.dumps(trigger.payload, ensure_ascii=False, indent=2, default=str) + "\n```")
    if request.strip():
        parts.append(request)
    return "\n\n".join(parts)
