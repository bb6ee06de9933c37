"""What a service refused by name, so that it is asked without: once learned, for all calls to the model."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

Json = Mapping[str, Any]

PARAMETERS = (
    *("temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "seed", "stop"),
    *("logprobs", "top_logprobs", "parallel_tool_calls", "user", "stream_options", "stream"),
)
"""Left out if they are refused. What decides how a model thinks is never left out: that would be another system."""
LENGTHS = ("max_tokens", "max_completion_tokens")
"""Renamed, each to the other."""
MODES = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, strictest first."""

_JSON_REFUSED = re.compile(r"response.?format|json.?(schema|object|mode)|structured output|text\.format|grammar", re.I)
_VALUE = re.compile(r"too (large|high|long|big)|less than|greater than|between|at (most|least)|range|exceed", re.I)
"""The parameter is known, its value wrong: for a person to correct."""


class Learned:
    """Shared by the threads that call a model. ``on_change`` gets the facts, as JSON, when there are more.
    ``elsewhere`` gives what others learned since."""

    def __init__(
        self,
        facts: Json | None = None,
        on_change: Callable[[Json], None] | None = None,
        elsewhere: Callable[[], Json] | None = None,
    ) -> None:
        self._dropped: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._mode = 0
        self._on_change = on_change
        self._elsewhere = elsewhere
        self._lock = threading.Lock()
        self.add(facts or {})

    @property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if self._dropped:
            facts["dropped"] = sorted(self._dropped)
        if self._renamed:
            facts["renamed"] = dict(self._renamed)
        if self._mode:
            facts["json"] = MODES[self._mode]
        return facts

    def add(self, facts: Json) -> None:
        """What was learned elsewhere."""
        with self._lock:
            self._dropped |= {str(name) for name in facts.get("dropped", ())}
            self._renamed |= {str(old): str(new) for old, new in (facts.get("renamed") or {}).items()}
            self._mode = max(self._mode, MODES.index(facts["json"]) if facts.get("json") in MODES else 0)

    def refresh(self) -> bool:
        """Before a call is sent: what another has been refused meanwhile is not sent again. Whether that is news."""
        before = self.facts
        if self._elsewhere is not None:
            self.add(self._elsewhere())
        return self.facts != before

    def knows_refused(self, name: str) -> bool:
        return name in self._dropped

    def adapt(self, body: Json) -> dict[str, Any]:
        """The request as the service takes it."""
        adapted = {self._renamed.get(name, name): value for name, value in body.items() if name not in self._dropped}
        if "forced tool_choice" in self._dropped and adapted.get("tool_choice") not in (None, "none", "auto"):
            del adapted["tool_choice"]
        if self._mode and (wanted := adapted.get("response_format")) and wanted.get("type") in MODES[: self._mode]:
            if MODES[self._mode] == "text":
                del adapted["response_format"]
            else:
                adapted["response_format"] = {"type": MODES[self._mode]}
        if "strict" in self._dropped:
            adapted = _without_strict(adapted)
        return adapted

    def learn(self, body: Json, complaint: str) -> None:
        """From the refusal of ``body``, if it names something that it can be sent without."""
        with self._lock:
            before = self.facts
            self._learn(body, complaint)
            changed = self.facts != before
        if changed and self._on_change:
            self._on_change(self.facts)

    def _learn(self, body: Json, complaint: str) -> None:
        for length in LENGTHS:
            if length in body and _names(complaint, length) and not _VALUE.search(complaint):
                other = LENGTHS[1 - LENGTHS.index(length)]
                if self._renamed.get(other) != length:  # else neither is taken
                    self._renamed[length] = other
                return
        if "tool_choice" in body and _names(complaint, "tool_choice"):
            self._dropped.add("tool_choice" if body["tool_choice"] in ("none", "auto") else "forced tool_choice")
        elif (wanted := body.get("response_format")) and _JSON_REFUSED.search(complaint):
            asked = MODES.index(wanted["type"]) if wanted.get("type") in MODES else 0
            self._mode = max(self._mode, min(asked + 1, len(MODES) - 1))
            return
        if _names(complaint, "strict"):
            self._dropped.add("strict")
        for name in PARAMETERS:
            if name in body and _names(complaint, name) and not (name != "temperature" and _VALUE.search(complaint)):
                self._dropped.add(name)


def _names(complaint: str, name: str) -> bool:
    """Short names are words of the language too: those count as the parameter's name, or in quotes."""
    if "_" in name or name in ("temperature", "strict"):
        return re.search(rf"(?<!\w){name}(?!\w)", complaint, re.I) is not None
    return complaint.startswith(f"{name} ") or re.search(rf"['\"`]{name}['\"`]", complaint) is not None


def _without_strict(body: dict[str, Any]) -> dict[str, Any]:
    if (wanted := body.get("response_format")) and isinstance(schema := wanted.get("json_schema"), Mapping):
        body["response_format"] = {**wanted, "json_schema": {k: v for k, v in schema.items() if k != "strict"}}
    if tools := body.get("tools"):
        body["tools"] = [
            {**tool, "function": {k: v for k, v in (tool.get("function") or {}).items() if k != "strict"}}
            for tool in tools
        ]
    return body
