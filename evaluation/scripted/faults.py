"""Faults on demand, to test code that depends on a model.

Requested by a scenario's ``do`` or by the model's name: ``scripted-judge+500`` always fails, ``scripted-judge+500x2``
the first two times, ``scripted-helpful+429x1+cutx1`` once each, in this order.
"""

from __future__ import annotations

import re
import threading
from typing import Any

TRANSPORT_FAULTS = {
    "429": "status 429 with Retry-After",
    "500": "status 500",
    "503": "status 503",
    "401": "status 401, with a text that repeats the key",
    "quota": "status 429, the quota is spent",
    "context": "status 400, the conversation is too long",
    "stall": "no answer for a long time",
    "trickle": "an answer byte by byte, without end",
    "cut": "the connection ends within the answer",
    "hangup": "the connection ends before the answer",
    "malformed": "a body that is not JSON",
    "html": "a page instead of JSON",
    "error-200": "status 200 with an error in the body",
    "no-choices": "an answer without choices",
    "no-schema": "status 400 for response_format json_schema",
    "no-schema-500": "status 500 for response_format json_schema, as servers do that check a request in their own code",
    "no-json": "status 400 for any response_format",
}

ANSWER_FAULTS = {
    "empty": "an answer without text",
    "fenced": "JSON in a code fence with words around it",
    "fewer": "one decision too few",
    "more": "one decision too many",
    "misquote": "a quote nobody said",
    "prose": "words instead of JSON",
    "bad-arguments": "tool calls whose arguments are not JSON",
    "unknown-tool": "a call of a tool that does not exist",
    "endless": "tool calls without end",
}

FAULTS = {**TRANSPORT_FAULTS, **ANSWER_FAULTS}
FALSE_QUOTE = "These words were never said by anybody in this session."

_SUFFIX = re.compile(r"\+([a-z0-9-]+?)(?:x(\d+))?(?=\+|$)")


class FaultsByName:
    """Faults requested by model names, and how many of them were applied."""

    def __init__(self) -> None:
        self._applied: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, model: str) -> str:
        """The next fault for the model, which is counted; empty for none."""
        requested = [(str(name), int(times) if times else None) for name, times in _SUFFIX.findall(model)]
        with self._lock:
            applied = self._applied.get(model, 0)
            for name, times in requested:
                if times is None:
                    return name
                if applied < times:
                    self._applied[model] = self._applied.get(model, 0) + 1
                    return name
                applied -= times
        return ""

    def reset(self) -> None:
        with self._lock:
            self._applied.clear()


def spoil_decisions(kind: str, decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if kind == "fewer":
        return decisions[:-1]
    if kind == "more":
        return [*decisions, {"index": len(decisions) + 1, "decision": "NO", "quote": "", "reason": "One more."}]
    if kind == "misquote":
        return [{**decision, "quote": FALSE_QUOTE} for decision in decisions]
    return decisions


def spoil_text(kind: str, text: str) -> str:
    if kind == "empty":
        return ""
    if kind == "fenced":
        return f"Here is my answer.\n```json\n{text}\n```\nI hope this helps."
    if kind == "prose":
        return "I would rather describe my decisions in words."
    return text
