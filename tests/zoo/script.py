"""What the model of every service says: chosen by what it is asked, so that a whole pilot runs.

An agent with the file tools lists the folder and writes a note at once, reads the note, then answers in words. Judges
and simulated users get the JSON they ask for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.protocol.listening import FLAGS
from evaluation.scripted.answers import example_value
from tests.evaluation.stub_model import decisions, is_listening, kind_of, said, wishes

JUDGES = ("satisfaction", "follow_up", "checklist")


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str
    """Spaced as no serialiser would, so that a client which writes them anew is noticed."""


@dataclass(frozen=True)
class Said:
    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = ""
    """Empty for the usual one."""
    refusal: str = ""


@dataclass(frozen=True)
class Asked:
    """A request, whatever API it came by, as chat messages and functions."""

    messages: Sequence[Mapping[str, Any]]
    functions: Sequence[Mapping[str, Any]] = ()
    choice: Any = None
    parallel: bool = True
    form: str = ""
    """``json_schema`` or ``json_object`` where the service heeds it."""
    schema: Mapping[str, Any] | None = None

    @property
    def kind(self) -> str:
        return kind_of({"messages": list(self.messages)})


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content or ""


def say(asked: Asked) -> Said:
    kind = asked.kind
    if kind in JUDGES:
        return Said(_formed(asked, decisions({"messages": list(asked.messages)}, lambda index: kind == "checklist")))
    if kind == "voice_check":
        return Said(_formed(asked, json.dumps({**dict.fromkeys(FLAGS, True), "reason": "It does."})))
    body = {"messages": list(asked.messages)}
    if kind == "voice":
        words = "As I would say it."
        return Said(_formed(asked, said(words)) if is_listening(body) else words)
    if kind == "next_intent":
        return Said(_formed(asked, json.dumps({"reason": "", "index": int(wishes(body)[-1])})))
    if asked.functions and asked.choice != "none" and (calls := _calls(asked)):
        return Said("I look at what is there." if len(calls) == 1 else "", calls)
    if asked.form:
        return Said(json.dumps(example_value(asked.schema or {"type": "object"})))
    return Said(f"Note {_turn(asked)} is in notes/turn-{_turn(asked)}.md.")


def _formed(asked: Asked, document: str) -> str:
    return document if asked.form else f"Here is my answer.\n\n```json\n{document}\n```"


def _turn(asked: Asked) -> int:
    return max(1, sum(message["role"] == "user" for message in asked.messages))


def _step(asked: Asked) -> int:
    """Answers with calls since the user spoke last."""
    roles = [message["role"] for message in asked.messages]
    opened = max((at for at, role in enumerate(roles) if role in ("user", "system", "developer")), default=0)
    return sum(bool(message.get("tool_calls")) for message in asked.messages[opened:])


def _calls(asked: Asked) -> tuple[Call, ...]:
    functions = {function["name"]: function for function in asked.functions}
    if isinstance(asked.choice, Mapping):
        named = asked.choice.get("function", asked.choice)["name"]
        return (_example(functions[named]),)
    note = f"notes/turn-{_turn(asked)}.md"
    steps = [
        [("list_dir", {"path": "."}), ("write_file", {"path": note, "content": "The harbour fee “is” due.\n"})],
        [("read_file", {"path": note})],
    ]
    step = _step(asked)
    if {"list_dir", "write_file", "read_file"} <= functions.keys():
        calls = tuple(_call(name, arguments) for name, arguments in steps[step]) if step < len(steps) else ()
    else:
        calls = tuple(_example(function) for function in asked.functions[:2]) if step == 0 else ()
    return calls if asked.parallel else calls[:1]


def _example(function: Mapping[str, Any]) -> Call:
    return _call(function["name"], _filled(function.get("parameters") or {}))


def _filled(schema: Mapping[str, Any]) -> dict[str, Any]:
    value = example_value({"type": "object", **schema})
    return {name: part or "a" if isinstance(part, str) else part for name, part in value.items()}


def _call(name: str, arguments: Mapping[str, Any]) -> Call:
    return Call(name, json.dumps(arguments, ensure_ascii=False, separators=(" , ", ":  ")))
