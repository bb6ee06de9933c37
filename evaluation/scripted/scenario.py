"""Scenarios: exact answers of the scripted model.

A scenario is a JSON file with a list of rules. The first matching rule that is not used up answers a request; without
one, the model behaves as usual.

    {"rules": [
      {"when": {"model": "scripted-helpful", "request": "quarterly report", "turn": 1, "step": 1},
       "tool_calls": [{"name": "read_file", "arguments": {"path": "sales.csv"}}]},
      {"when": {"model": "scripted-helpful", "request": "quarterly report", "turn": 1, "step": 2},
       "reply": "Here is the report."},
      {"when": {"purpose": "satisfaction", "contains": "Here is the report"},
       "decisions": {"1": "NO", "2": {"decision": "YES", "quote": "the report", "reason": "It is there."}}},
      {"when": {"purpose": "checklist", "turn": 2}, "decisions": {}, "otherwise": "YES"},
      {"when": {"model": "scripted-judge"}, "do": "429", "retry_after": 2, "times": 1}
    ]}

``when`` (all given conditions must match; text ignoring case)
    model     the model's name
    purpose   agent, satisfaction, follow_up, checklist or help
    request   a text in the conversation's first user message
    contains  a text anywhere in the messages
    turn      of an agent: the user's messages so far; of a checklist: the turns in the record
    step      model calls since the last user message, including this one

The answer: ``reply`` and ``tool_calls``; or ``decisions`` by index (a missing one is ``otherwise``, by default NO);
or ``do``, one of ``faults`` (with ``retry_after`` or ``seconds``). Faults of the answer combine with the others.
``times`` limits how often a rule answers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from evaluation.scripted.faults import FAULTS


class ScenarioError(ValueError):
    """The message says where and why the scenario is invalid."""


@dataclass(frozen=True)
class ScenarioRequest:
    """What rules match against."""

    model: str
    purpose: str
    request: str
    all_text: str
    turn: int
    step: int


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class When(_Part):
    model: str | None = None
    purpose: str | None = None
    request: str | None = None
    contains: str | None = None
    turn: int | None = None
    step: int | None = None

    def matches(self, request: ScenarioRequest) -> bool:
        return (
            (self.request or "").lower() in request.request.lower()
            and (self.contains or "").lower() in request.all_text.lower()
            and self.model in (None, request.model)
            and self.purpose in (None, request.purpose)
            and self.turn in (None, request.turn)
            and self.step in (None, request.step)
        )


class ScenarioCall(_Part):
    name: str
    arguments: Any = {}


class ScenarioRule(_Part):
    when: When = When()
    reply: str | None = None
    tool_calls: list[ScenarioCall] = []
    decisions: Mapping[str, Any] | None = None
    otherwise: str = "NO"
    do: str = ""
    retry_after: float = 1.0
    seconds: float = 3600.0
    times: int | None = None
    """Answers that are left; None if unlimited."""

    @model_validator(mode="after")
    def _says_something(self) -> ScenarioRule:
        if self.do and self.do not in FAULTS:
            raise ValueError(f"there is no misbehaviour {self.do!r}; there are {', '.join(sorted(FAULTS))}.")
        if not self.model_fields_set & {"reply", "tool_calls", "decisions", "do"}:
            raise ValueError('it says nothing: give it "reply", "tool_calls", "decisions" or "do".')
        return self


class _Document(_Part):
    model_config = ConfigDict(extra="ignore")

    rules: list[ScenarioRule]


class Scenario:
    """Rules in order. Thread-safe."""

    def __init__(self, rules: list[ScenarioRule] | None = None) -> None:
        self._rules = rules or []
        self._lock = threading.Lock()

    def rule_for(self, request: ScenarioRequest) -> ScenarioRule | None:
        with self._lock:
            rule = next((rule for rule in self._rules if rule.times != 0 and rule.when.matches(request)), None)
            if rule is not None and rule.times is not None:
                rule.times -= 1
        return rule


def load_scenario(path: Path) -> Scenario:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path} cannot be read: {error}") from error
    return read_scenario(document)


def read_scenario(document: Any) -> Scenario:
    """Raises ScenarioError."""
    try:
        return Scenario(_Document.model_validate(document).rules)
    except ValidationError as error:
        first = error.errors()[0]
        if len(first["loc"]) < 2:
            raise ScenarioError('A scenario is an object with a list "rules".') from None
        _, number, *place = first["loc"]
        where = ", ".join((f"Rule {int(number) + 1}", *map(str, place)))
        raise ScenarioError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None
