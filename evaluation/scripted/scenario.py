"""Scenarios: exact answers of the scripted model.

A scenario is a JSON file with a list of rules. The first rule that matches and is not used up answers a request;
if none matches, the model behaves as usual.

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

The answer: ``reply`` and ``tool_calls``; or ``decisions`` (by index; a missing one is ``otherwise``,
which is NO unless given); or ``do``, one of ``faults`` (with ``retry_after`` or ``seconds``);
faults of the answer combine with the others. ``times`` limits how often a rule answers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.scripted.faults import FAULTS

_WHEN = frozenset({"model", "purpose", "request", "contains", "turn", "step"})
_THEN = frozenset({"reply", "tool_calls", "decisions", "otherwise", "do", "retry_after", "seconds", "times", "when"})


class ScenarioError(ValueError):
    """The scenario cannot be used. The text says where and why."""


@dataclass(frozen=True)
class ScenarioRequest:
    """What rules match against."""

    model: str
    purpose: str
    request: str
    everything: str
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
    left: int | None = None
    """Remaining answers; None: unlimited."""

    def matches(self, request: ScenarioRequest) -> bool:
        return self.left != 0 and all(
            wanted.lower() in getattr(request, "everything" if name == "contains" else "request").lower()
            if name in ("contains", "request")
            else wanted == getattr(request, name)
            for name, wanted in self.when.items()
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
                    if rule.left is not None:
                        rule.left -= 1
                    return rule
        return None


def load_scenario(path: Path) -> Scenario:
    """Raises ScenarioError."""
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


def _rule(given: Any, where: str) -> ScenarioRule:
    if not isinstance(given, Mapping):
        raise ScenarioError(f"{where} is not an object.")
    when = given.get("when", {})
    _known(given, _THEN, where)
    if not isinstance(when, Mapping):
        raise ScenarioError(f'{where}: "when" is not an object.')
    _known(when, _WHEN, f'{where}, "when"')
    for name, value in when.items():
        if not isinstance(value, int if name in ("turn", "step") else str):
            raise ScenarioError(f'{where}: "{name}" has the wrong type.')
    do = given.get("do", "")
    if do and do not in FAULTS:
        raise ScenarioError(f"{where}: there is no misbehaviour {do!r}; there are {', '.join(sorted(FAULTS))}.")
    decisions = given.get("decisions")
    if decisions is not None and not isinstance(decisions, Mapping):
        raise ScenarioError(f'{where}: "decisions" is not an object by index.')
    for name, kind in (("reply", str), ("times", int), ("retry_after", (int, float)), ("seconds", (int, float))):
        if name in given and not isinstance(given[name], kind):
            raise ScenarioError(f'{where}: "{name}" has the wrong type.')
    if not do and decisions is None and "reply" not in given and "tool_calls" not in given:
        raise ScenarioError(f'{where} says nothing: give it "reply", "tool_calls", "decisions" or "do".')
    try:
        calls = tuple((str(call["name"]), call.get("arguments", {})) for call in given.get("tool_calls", ()))
    except (TypeError, KeyError, AttributeError):
        raise ScenarioError(f'{where}: each of "tool_calls" has a "name" and "arguments".') from None
    return ScenarioRule(
        when=dict(when),
        reply=given.get("reply"),
        tool_calls=calls,
        decisions=decisions,
        otherwise=given.get("otherwise", "NO"),
        do=do,
        retry_after=float(given.get("retry_after", 1)),
        seconds=float(given.get("seconds", 3600)),
        left=given.get("times"),
    )


def _known(given: Mapping[str, Any], names: frozenset[str], where: str) -> None:
    if unknown := sorted(set(given) - names):
        raise ScenarioError(f"{where} has unknown keys: {', '.join(map(str, unknown))}.")
