"""Calls a script might be tried on, derived from what it looks at: nothing, everything, each tool and word by itself.

They are made to earn keys, not to resemble what an agent does. A key that none of them earns may still be earned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from studio.domain.graders.reader import ScriptReading

HistoryKind = Literal["nothing", "everything", "matching", "tool", "word", "draft", "stranger", "other"]
Call = dict[str, Any]

PREFIX = "mcp_appworld_"
WORKSPACE = ("write_file", "read_file", "edit_file")
USUAL = ("path", "content", "title", "name", "text")
RECIPIENT = re.compile(
    r"recipient|receiver|email|phone|contact|user|address|channel|room|chat|friend|(?:^|_)(?:to|cc|bcc)(?:_|$)",
    re.IGNORECASE,
)
SEND = re.compile(r"send|forward", re.IGNORECASE)
REPLY = re.compile(r"reply|thread", re.IGNORECASE)
DRAFT = re.compile(r"draft", re.IGNORECASE)
STRANGER = "someone.else@nowhere.example"
ID = 7
MOST_TOOLS, MOST_WORDS, MOST_VALUES, MOST_ARGUMENTS = 16, 24, 12, 30
LONGEST_TEXT = 4_000


@dataclass(frozen=True)
class History:
    """Calls as ``score`` receives them."""

    kind: HistoryKind
    name: str
    """What it is, in a few words."""
    calls: tuple[Call, ...]


def sends(tool: str) -> bool:
    """Whether a tool of this name sends a message (a draft that is sent is sent)."""
    return bool(SEND.search(tool))


def drafts(tool: str) -> bool:
    """Whether it only drafts one."""
    return bool(DRAFT.search(tool)) and not sends(tool)


def generate_histories(reading: ScriptReading) -> tuple[History, ...]:
    """The histories to try a script on, the empty one first."""
    tools = _tools(reading)
    names = _arguments(reading)
    rich = _rich(reading)
    rounds = max([1, *(min(len(values), MOST_VALUES) for values in reading.exact.values())])
    matching = [_call(tool, _matching(reading, names, rich, n)) for n in range(rounds) for tool in tools]
    listed = [_call(tool, _listing(reading, names)) for tool in tools]
    plain = [_call(tool, dict.fromkeys(names, rich)) for tool in tools]
    found = [
        History("nothing", "no calls at all", ()),
        History("everything", "every tool, with everything the script looks for", tuple(plain + listed + matching)),
    ]
    found += [
        History("matching", f"every tool, with what each argument is compared with ({n + 1})", tuple(calls))
        for n, calls in enumerate(_in_rounds(matching, len(tools)))
    ]
    found += [
        History("tool", f"only {tool}", tuple(call for call in plain + listed + matching if call["tool_name"] == tool))
        for tool in tools
    ]
    for value in (*reading.words, *reading.numbers)[:MOST_WORDS]:
        calls = tuple(_call(tool, dict.fromkeys(names, value)) for tool in tools)
        found.append(History("word", f"every argument is “{str(value)[:40]}”", calls))
    everything = found[1].calls
    if any(drafts(tool) for tool in tools):
        calls = tuple(call for call in everything if not sends(call["tool_name"]))
        found.append(History("draft", "messages drafted, none sent", calls))
    if any(sends(tool) for tool in tools):
        calls = tuple(_to_stranger(call) for call in everything if not REPLY.search(call["tool_name"]))
        found.append(History("stranger", "messages to a stranger", calls))
    other = tuple(_call(tool, {"path": "notes.txt", "content": "Something else."}) for tool in WORKSPACE)
    found.append(History("other", "calls it does not look at", other))
    return tuple(found)


def _tools(reading: ScriptReading) -> list[str]:
    named = [tool for tool in reading.tool_names if tool.strip()][:MOST_TOOLS] or list(WORKSPACE)
    bare = [tool.removeprefix(PREFIX) for tool in named]
    prefixed = [PREFIX + tool for tool in bare if "__" in tool]
    return list(dict.fromkeys((*named, *bare, *prefixed)))


def _arguments(reading: ScriptReading) -> list[str]:
    return list(dict.fromkeys((*reading.arguments, *USUAL)))[:MOST_ARGUMENTS]


def _rich(reading: ScriptReading) -> str:
    """One text with all the words in it, as prose and as a numbered list."""
    words = [word for word in reading.words if len(word) < 300]
    lines = [f"{number}. {word}" for number, word in enumerate(words, 1)]
    return "\n".join((" ".join(words), *lines))[:LONGEST_TEXT]


def _matching(reading: ScriptReading, names: Iterable[str], rich: str, place: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        values = reading.exact.get(name)
        if values:
            found[name] = values[place % len(values)]
        else:
            found[name] = ID if name.endswith("id") else rich
    return found


def _listing(reading: ScriptReading, names: Iterable[str]) -> dict[str, Any]:
    words = list(reading.words[:MOST_WORDS])
    return dict.fromkeys(names, words)


def _call(tool: str, arguments: dict[str, Any]) -> Call:
    ids = {name: ID for name in arguments if name.endswith("id")}
    return {"tool_name": tool, "call": dict(arguments), "result": {"id": ID, **ids}}


def _in_rounds(calls: list[Call], size: int) -> list[list[Call]]:
    return [calls[start : start + size] for start in range(0, len(calls), size)]


def _to_stranger(call: Call) -> Call:
    given = {
        name: ([STRANGER] if isinstance(value, list) else STRANGER) if RECIPIENT.search(name) else value
        for name, value in call["call"].items()
    }
    return {**call, "call": given}
