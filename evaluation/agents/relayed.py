"""A model's answers on their way to a program: it is shown what was said and called. Thoughts stay outside of the
sandbox, where files are that others read, and go back to their model with the messages that they came in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.llm import Completion
from evaluation.llm.thoughts import said_in

Message = Mapping[str, Any]


class Relayed:
    def __init__(self, answers: Iterable[Message] = ()) -> None:
        self.answers = list(answers)
        """As they came, in order: those of which the program was shown less, and those with calls, whose arguments a
        program may write with other spaces, so that what its model has cached no longer fits."""

    def show(self, completion: Completion) -> dict[str, Any]:
        came = completion.message
        shown: dict[str, Any] = {"role": "assistant", "content": completion.text}
        calls = came.get("tool_calls")
        if calls:
            shown["tool_calls"] = [  # some services hide a thought in an id
                {"id": f"call-{len(self.answers)}-{number}", "type": call["type"], "function": call["function"]}
                for number, call in enumerate(calls, start=1)
            ]
        if calls or came != shown:
            self.answers.append(came)
        return shown

    def restore(self, messages: Sequence[Message]) -> list[Message]:
        """The conversation as the program tells it, with the answers as they came. A program may have shortened it, and
        given ids of its own to tool calls."""
        restored: list[Message] = []
        identities: dict[Any, Any] = {}
        rest = self.answers
        for message in messages:
            if message.get("role") == "assistant":
                keys = [_key(answer) for answer in rest]
                if _key(message) in keys:
                    at = keys.index(_key(message))
                    told, message, rest = message, rest[at], rest[at + 1 :]
                    pairs = zip(told.get("tool_calls") or (), message.get("tool_calls") or (), strict=True)
                    identities |= {given.get("id"): call.get("id") for given, call in pairs}
            elif message.get("tool_call_id") in identities:
                message = {**message, "tool_call_id": identities[message["tool_call_id"]]}
            restored.append(message)
        return restored


def _key(message: Message) -> tuple[Any, ...]:
    """What a program leaves as it is: its calls, or else the words."""
    calls = [call.get("function") or {} for call in message.get("tool_calls") or ()]
    if calls:
        return tuple((function.get("name"), _canonical(function.get("arguments"))) for function in calls)
    return ("", " ".join(said_in(message).split()))


def _canonical(arguments: Any) -> str:
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return str(arguments)
