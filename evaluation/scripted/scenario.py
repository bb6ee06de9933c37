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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.scripted.faults import FAULTS

_CONDITIONS = frozenset({"model", "purpose", "request", "contains", "turn", "step"})
_KEYS = frozenset({"reply", "tool_calls", "decisions", "otherwise", "do", "retry_after", "seconds", "times", "when"})


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


@dataclass
class ScenarioRule:
    when: Mapping[str, Any] = field(default_factory=dict)
    reply: str | None = None
    tool_calls: tuple[tuple[str, Any], ...] = ()
    decisions: Mapping[str, Any] | None = None
    otherwise: str = "NO"
    do: str = ""
    retry_after: float = 1.0
    seconds: float = 3600.0
    remaining: int | None = None
    """Remaining answers; None if unlimited."""

    def matches(self, request: ScenarioRequest) -> bool:
        return self.remaining != 0 and all(
            expected.lower() in getattr(request, "all_text" if name == "contains" else "request").lower()
            if name in ("contains", "request")
            else expected == getattr(request, name)
            for name, expected in self.when.items()
        )


class Scenario:
    """Rules in order. Thread-safe."""

    def __init__(self, rules: list[ScenarioRule] | None = None) -> None:
        self._rules = rules or []
        self._lock = threading.Lock()

    def rule_for(self, request: ScenarioRequest) -> ScenarioRule | None:
        with self._lock:
            for rule in self._rules:
                if rule.matches(request):
                    if rule.remaining is not None:
                        rule.remaining -= 1
                    return rule
        return None


def load_scenario(path: Path) -> Scenario:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path} cannot be read: {error}") from error
    return read_scenario(document)


def read_scenario(document: Any) -> Scenario:
    """Raises ScenarioError."""
    rules = document.get("rules") if isinstance(document, Mapping) else None
    if not isinstance(rules, list):
        raise ScenarioError('A scenario is an object with a list "rules".')
    return Scenario([_rule(rule, f"Rule {number}") for number, rule in enumerate(rules, start=1)])


def _rule(document: Any, location: str) -> ScenarioRule:
    if not isinstance(document, Mapping):
        raise ScenarioError(f"{location} is not an object.")
    when = document.get("when", {})
    _validate_keys(document, _KEYS, location)
    if not isinstance(when, Mapping):
        raise ScenarioError(f'{location}: "when" is not an object.')
    _validate_keys(when, _CONDITIONS, f'{location}, "when"')
    for name, value in when.items():
        if not isinstance(value, int if name in ("turn", "step") else str):
            raise ScenarioError(f'{location}: "{name}" has the wrong type.')
    do = document.get("do", "")
    if do and do not in FAULTS:
        raise ScenarioError(f"{location}: there is no misbehaviour {do!r}; there are {', '.join(sorted(FAULTS))}.")
    decisions = document.get("decisions")
    if decisions is not None and not isinstance(decisions, Mapping):
        raise ScenarioError(f'{location}: "decisions" is not an object by index.')
    for name, kind in (("reply", str), ("times", int), ("retry_after", (int, float)), ("seconds", (int, float))):
        if name in document and not isinstance(document[name], kind):
            raise ScenarioError(f'{location}: "{name}" has the wrong type.')
    if not do and decisions is None and "reply" not in document and "tool_calls" not in document:
        raise ScenarioError(f'{location} says nothing: give it "reply", "tool_calls", "decisions" or "do".')
    try:
        calls = tuple((str(call["name"]), call.get("arguments", {})) for call in document.get("tool_calls", ()))
    except (TypeError, KeyError, AttributeError):
        raise ScenarioError(f'{location}: each of "tool_calls" has a "name" and "arguments".') from None
    return ScenarioRule(
        when=dict(when),
        reply=document.get("reply"),
        tool_calls=calls,
        decisions=decisions,
        otherwise=document.get("otherwise", "NO"),
        do=do,
        retry_after=float(document.get("retry_after", 1)),
        seconds=float(document.get("seconds", 3600)),
        remaining=document.get("times"),
    )


def _validate_keys(document: Mapping[str, Any], known: frozenset[str], location: str) -> None:
    if unknown := sorted(set(document) - known):
        raise ScenarioError(f"{location} has unknown keys: {', '.join(map(str, unknown))}.")
