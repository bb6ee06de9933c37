"""The session as the checklist judge sees it after a turn (PIBENCH.md, section 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.protocol.history import Way, same_tool
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.paths import MISSING, find, parsed
from evaluation.protocol.prompts import escape, escape_attribute
from studio.domain.task import TaskSpec, ToolEvidence

MAX_FILE_CHARACTERS = 40_000
CUT = "\n[cut here: the file is longer]"
MISSING_FILE = "[this file does not exist]"
BINARY_FILE = "[this file is not text]"
MISSING_FIELD = "[missing]"


def files_shown(task: TaskSpec) -> tuple[str, ...]:
    """The workspace files a checklist judge is shown: ``files_read``, and what rubric items name as their evidence.

    An item of the release names none, so nothing is added to what the release shows. Evidence that begins
    with the name of a tool whose fields are shown anyway is not a file.
    """
    tools = tuple(f"{tool.tool.strip()}." for tool in task.tool_evidence)
    named = (place for item in task.scored_items if item.grader == "rubric" for place in item.evidence)
    return tuple(dict.fromkeys((*task.files_read, *(place for place in named if not place.startswith(tools)))))


def read_texts(paths: Sequence[str], read: Callable[[str], bytes | None]) -> dict[str, str]:
    """The texts of ``files_read``, each cut at 40,000 characters; a missing one says so."""
    return {path: _text(read(path)) for path in paths}


def render_trace(
    messages: Sequence[str],
    reply: str,
    calls: Sequence[ToolRecord],
    tools: Sequence[ToolEvidence],
    files: Mapping[str, str],
    way: Way,
) -> str:
    """User messages so far, the last reply, the chosen fields of tool calls, and the files.

    strict escapes every text; compat does not, as in the release, so that a reply can forge tags.
    """
    safe: Callable[[str], str] = escape if way == "strict" else str
    name: Callable[[str], str] = escape_attribute if way == "strict" else str
    parts = [f'<user turn="{number}">\n{safe(text)}\n</user>' for number, text in enumerate(messages, start=1)]
    parts.append(f"<assistant>\n{safe(reply)}\n</assistant>")
    parts += [
        f'<tool name="{name(call.name)}">\n{safe(json.dumps(fields, ensure_ascii=False, default=str))}\n</tool>'
        for call in calls
        if (fields := shown_fields(call, tools)) is not None
    ]
    parts += [f'<file path="{name(path)}">\n{safe(text)}\n</file>' for path, text in files.items()]
    return "\n".join(parts)


def shown_fields(call: ToolRecord, tools: Sequence[ToolEvidence]) -> dict[str, Any] | None:
    """The fields of one call that a task shows its judges; None: it shows nothing of this tool."""
    chosen = [tool for tool in tools if same_tool(tool.tool, call.name)]
    if not chosen:
        return None
    result = parsed(call.result)
    return {
        "call": {path: _shown(call.arguments, path) for tool in chosen for path in tool.call},
        "result": {path: _shown(result, path) for tool in chosen for path in tool.result},
    }


def _shown(value: Any, path: str) -> Any:
    found = find(value, path)
    return MISSING_FIELD if found is MISSING else found


def _text(content: bytes | None) -> str:
    if content is None:
        return MISSING_FILE
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return BINARY_FILE
    return text if len(text) <= MAX_FILE_CHARACTERS else text[:MAX_FILE_CHARACTERS] + CUT
