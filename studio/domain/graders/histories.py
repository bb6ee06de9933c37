"""Generates tool-call histories to try a script on: no calls, everything it looks for, each tool and text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from studio.domain.graders.reader import ScriptReading
from studio.domain.tool_names import APP_PREFIX, bare_tool_name

HistoryKind = Literal["nothing", "everything", "matching", "tool", "word", "draft", "stranger", "plausible", "other"]
Call = dict[str, Any]

WORKSPACE = ("write_file", "read_file", "edit_file")
DEFAULT_ARGUMENTS = ("path", "content", "title", "name", "text")
RECIPIENT = re.compile(
    r"recipient|receiver|email|phone|contact|user|address|channel|room|chat|friend|(?:^|_)(?:to|cc|bcc)(?:_|$)",
    re.IGNORECASE,
)
SEND = re.compile(r"send|forward", re.IGNORECASE)
REPLY = re.compile(r"reply|thread", re.IGNORECASE)
DRAFT = re.compile(r"draft", re.IGNORECASE)
STRANGER = "someone.else@nowhere.example"
SAMPLE_ID = 7
MAX_TOOLS, MAX_TEXTS, MAX_VALUES, MAX_ARGUMENTS = 16, 24, 12, 30
LONGEST_TEXT = 4_000


@dataclass(frozen=True)
class History:
    """Calls as ``score`` receives them."""

    kind: HistoryKind
    name: str
    calls: tuple[Call, ...]


def sends(tool: str) -> bool:
    """Whether the tool's name says that it sends a message, including “send draft”."""
    return bool(SEND.search(tool))


def drafts(tool: str) -> bool:
    return bool(DRAFT.search(tool)) and not sends(tool)


def generate_histories(reading: ScriptReading) -> tuple[History, ...]:
    """The empty history comes first. All are built to earn keys, not to resemble agents; a key none of them earns can
    still be earnable."""
    tools = _tools(reading)
    names = _arguments(reading)
    all_texts = _all_texts(reading)
    rounds = max([1, *(min(len(values), MAX_VALUES) for values in reading.exact.values())])
    matching = [_call(tool, _matching(reading, names, all_texts, n)) for n in range(rounds) for tool in tools]
    with_lists = [_call(tool, _text_lists(reading, names)) for tool in tools]
    with_text = [_call(tool, dict.fromkeys(names, all_texts)) for tool in tools]
    everything = (*with_text, *with_lists, *matching)
    histories = [
        History("nothing", "no calls at all", ()),
        History("everything", "every tool, with everything the script looks for", everything),
    ]
    histories += [
        History("matching", f"every tool, with what each argument is compared with ({n + 1})", tuple(calls))
        for n, calls in enumerate(_chunks(matching, len(tools)))
    ]
    histories += [
        History("tool", f"only {tool}", tuple(call for call in everything if call["tool_name"] == tool))
        for tool in tools
    ]
    for value in (*reading.texts, *reading.numbers)[:MAX_TEXTS]:
        calls = tuple(_call(tool, dict.fromkeys(names, value)) for tool in tools)
        histories.append(History("word", f"every argument is “{str(value)[:40]}”", calls))
    if any(drafts(tool) for tool in tools):
        calls = tuple(call for call in everything if not sends(call["tool_name"]))
        histories.append(History("draft", "messages drafted, none sent", calls))
    if any(sends(tool) for tool in tools):
        calls = tuple(_to_stranger(call) for call in everything if not REPLY.search(call["tool_name"]))
        histories.append(History("stranger", "messages to a stranger", calls))
    other = tuple(_call(tool, {"path": "notes.txt", "content": "Something else."}) for tool in WORKSPACE)
    histories.append(History("other", "calls it does not look at", other))
    return tuple(histories)


def _tools(reading: ScriptReading) -> list[str]:
    named = [tool for tool in reading.tool_names if tool.strip()][:MAX_TOOLS] or list(WORKSPACE)
    bare = [bare_tool_name(tool) for tool in named]
    prefixed = [APP_PREFIX + tool for tool in bare if "__" in tool]
    return list(dict.fromkeys((*named, *bare, *prefixed)))


def _arguments(reading: ScriptReading) -> list[str]:
    return list(dict.fromkeys((*reading.arguments, *DEFAULT_ARGUMENTS)))[:MAX_ARGUMENTS]


def _all_texts(reading: ScriptReading) -> str:
    texts = [text for text in reading.texts if len(text) < 300]
    lines = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
    return "\n".join((" ".join(texts), *lines))[:LONGEST_TEXT]


def _matching(reading: ScriptReading, names: Iterable[str], all_texts: str, round_number: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name in names:
        values = reading.exact.get(name)
        if values:
            arguments[name] = values[round_number % len(values)]
        else:
            arguments[name] = SAMPLE_ID if name.endswith("id") else all_texts
    return arguments


def _text_lists(reading: ScriptReading, names: Iterable[str]) -> dict[str, Any]:
    texts = list(reading.texts[:MAX_TEXTS])
    return dict.fromkeys(names, texts)


def _call(tool: str, arguments: dict[str, Any]) -> Call:
    ids = {name: SAMPLE_ID for name in arguments if name.endswith("id")}
    return {"tool_name": tool, "call": dict(arguments), "result": {"id": SAMPLE_ID, **ids}}


def _chunks(calls: list[Call], size: int) -> list[list[Call]]:
    return [calls[start : start + size] for start in range(0, len(calls), size)]


def _to_stranger(call: Call) -> Call:
    arguments = {
        name: ([STRANGER] if isinstance(value, list) else STRANGER) if RECIPIENT.search(name) else value
        for name, value in call["call"].items()
    }
    return {**call, "call": arguments}
