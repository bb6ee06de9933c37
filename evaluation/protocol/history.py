"""Tool calls as graders see them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.scoring import ScoringMode
from studio.domain.tool_names import APP_PREFIX, bare_tool_name

MISSING: Final = object()
MAX_DIGITS = 9


def value_at(value: Any, path: str) -> Any:
    """The value at ``path``, or MISSING. No wildcards.

    A token is the exact key of a mapping or an index within a list; anything else is missing.
    """
    for token in (part.strip() for part in path.split(".")):
        if isinstance(value, Mapping):
            if token not in value:
                return MISSING
            value = value[token]
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            if not (token.isascii() and token.isdigit() and len(token) <= MAX_DIGITS and int(token) < len(value)):
                return MISSING
            value = value[int(token)]
        else:
            return MISSING
    return value


def parse_result(result: str) -> Any:
    """A tool's result as data: JSON is parsed once, without the strings within it; other text stays text."""
    try:
        return json.loads(result)
    except (ValueError, RecursionError):
        return result


def select_calls(turns: Sequence[Sequence[ToolRecord]], mode: ScoringMode) -> tuple[ToolRecord, ...]:
    """The calls that graders see after the last of ``turns``.

    strict: every call so far. compat, as in the public release (PIBENCH.md, section 4, point 8): the last turn's last
    call of each tool, or all earlier calls if that turn has none.
    """
    if not turns:
        return ()
    *before, latest = turns
    earlier = tuple(call for turn in before for call in turn)
    if mode == ScoringMode.STRICT:
        return (*earlier, *latest)
    if not latest:
        return earlier
    last = {call.name: position for position, call in enumerate(latest)}
    return tuple(call for position, call in enumerate(latest) if last[call.name] == position)


def tools_history(calls: Sequence[ToolRecord]) -> list[dict[str, Any]]:
    """As grader scripts read them. Beyond the format: ``ok`` of a call that failed, and of app calls ``changes``, the
    records they changed."""
    return [
        {
            "tool_name": name_for_graders(call.name),
            "call": dict(call.arguments),
            "result": parse_result(call.result),
            **({} if call.ok else {"ok": False}),
            **({"changes": list(call.effects)} if "__" in call.name else {}),
        }
        for call in calls
    ]


def name_for_graders(name: str) -> str:
    """Published graders know tools of apps by the name that agents have in the public release, with the prefix; some
    accept no other."""
    return APP_PREFIX + name if "__" in name and not name.startswith("mcp_") else name


def same_tool(name: str, called: str) -> bool:
    """Whether a task's tool ``name`` is the tool the agent ``called``; the prefix of simulated apps is optional."""
    return bare_tool_name(name) == bare_tool_name(called)
