"""The trace: a session as the checklist judge sees it after a turn (PIBENCH.md, section 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.protocol.history import same_tool
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.paths import MISSING, find, parsed
from evaluation.protocol.prompts import escape, escape_attribute
from evaluation.protocol.scoring import ScoringMode
from studio.domain.task import TaskSpec, ToolEvidence

MAX_FILE_CHARACTERS = 40_000
CUT = "\n[cut here: the file is longer]"
MISSING_FILE = "[this file does not exist]"
BINARY_FILE = "[this file is not text]"
MISSING_FIELD = "[missing]"


def files_shown(task: TaskSpec) -> tuple[str, ...]:
    """The files a checklist judge is shown: ``files_read``, and those that rubric items name as evidence.

    Items in the release's format name none. Evidence that starts with the name of a tool in ``tool_evidence`` is a
    field of that tool, not a file.
    """
    tools = tuple(f"{tool.tool.strip()}." for tool in task.tool_evidence)
    named = (path for item in task.scored_items if item.grader == "rubric" for path in item.evidence)
    return tuple(dict.fromkeys((*task.files_read, *(path for path in named if not path.startswith(tools)))))


def read_texts(paths: Sequence[str], read: Callable[[str], bytes | None]) -> dict[str, str]:
    """Texts by path, each cut at MAX_FILE_CHARACTERS; a missing or binary file gives a note."""
    return {path: _text(read(path)) for path in paths}


def render_trace(
    messages: Sequence[str],
    reply: str,
    calls: Sequence[ToolRecord],
    tools: Sequence[ToolEvidence],
    files: Mapping[str, str],
    mode: ScoringMode,
) -> str:
    """User messages so far, the last reply, the shown fields of tool calls, and the files.

    strict escapes every text; compat does not, as in the release, so a reply can forge tags.
    """
    safe: Callable[[str], str] = escape if mode == ScoringMode.STRICT else str
    name: Callable[[str], str] = escape_attribute if mode == ScoringMode.STRICT else str
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
    field = find(value, path)
    return MISSING_FIELD if field is MISSING else field


def _text(content: bytes | None) -> str:
    if content is None:
        return MISSING_FILE
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return BINARY_FILE
    return text if len(text) <= MAX_FILE_CHARACTERS else text[:MAX_FILE_CHARACTERS] + CUT
