"""Tool calls as graders see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.paths import parse_result
from evaluation.protocol.scoring import ScoringMode
from studio.domain.tool_names import APP_PREFIX, bare_tool_name


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
