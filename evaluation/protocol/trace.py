"""The trace: a session after a turn, as the checklist judge sees it (PIBENCH.md, section 2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.protocol.history import MISSING, parse_result, same_tool, value_at
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.prompts import escape, escape_attribute
from evaluation.protocol.scoring import ScoringMode
from studio.domain.opening_message import EnvironmentEvent, Incoming, text_of
from studio.domain.task import TaskSpec, ToolEvidence

MAX_FILE_CHARACTERS = 40_000
TRUNCATED = "\n[cut here: the file is longer]"
MISSING_FILE = "[this file does not exist]"
BINARY_FILE = "[this file is not text]"
MISSING_FIELD = "[missing]"


def select_files(task: TaskSpec) -> tuple[str, ...]:
    """The files shown to a checklist judge: ``files_read``, and evidence named by rubric items.

    Items in the public release's format name none. Evidence that starts with the name of a tool in ``tool_evidence`` is
    a field of that tool, not a file.
    """
    tools = tuple(f"{tool.tool.strip()}." for tool in task.tool_evidence)
    named = (path for item in task.scored_items if item.grader == "rubric" for path in item.evidence)
    return tuple(dict.fromkeys((*task.files_read, *(path for path in named if not path.startswith(tools)))))


def read_texts(paths: Sequence[str], read: Callable[[str], bytes | None]) -> dict[str, str]:
    """Texts by path, truncated to MAX_FILE_CHARACTERS; a placeholder for a missing or binary file."""
    return {path: _text(read(path)) for path in paths}


def render_trace(
    messages: Sequence[Incoming],
    reply: str,
    calls: Sequence[ToolRecord],
    tools: Sequence[ToolEvidence],
    files: Mapping[str, str],
    mode: ScoringMode,
) -> str:
    """User messages so far, the last reply, the shown fields of tool calls, and the files.

    strict escapes every text and shows an event as one; compat does neither, as in the public release: a reply can
    forge tags, and what opens a session stands as a user message.
    """
    escape_text: Callable[[str], str] = escape if mode == ScoringMode.STRICT else str
    escape_name: Callable[[str], str] = escape_attribute if mode == ScoringMode.STRICT else str
    sections = []
    for number, message in enumerate(messages, start=1):
        text = escape_text(text_of(message))
        if isinstance(message, EnvironmentEvent) and mode == ScoringMode.STRICT:
            sections.append(f'<event turn="{number}" kind="{escape_name(message.kind)}">\n{text}\n</event>')
        else:
            sections.append(f'<user turn="{number}">\n{text}\n</user>')
    sections.append(f"<assistant>\n{escape_text(reply)}\n</assistant>")
    for call in calls:
        if (fields := select_fields(call, tools)) is not None:
            text = json.dumps(fields, ensure_ascii=False, default=str)
            sections.append(f'<tool name="{escape_name(call.name)}">\n{escape_text(text)}\n</tool>')
    sections += [f'<file path="{escape_name(path)}">\n{escape_text(text)}\n</file>' for path, text in files.items()]
    return "\n".join(sections)


def select_fields(call: ToolRecord, tools: Sequence[ToolEvidence]) -> dict[str, Any] | None:
    """The fields of a call that the task shows its judges; None if it shows nothing of this tool."""
    matching = [tool for tool in tools if same_tool(tool.tool, call.name)]
    if not matching:
        return None
    result = parse_result(call.result)
    return {
        "call": {path: _field_at(call.arguments, path) for tool in matching for path in tool.call},
        "result": {path: _field_at(result, path) for tool in matching for path in tool.result},
    }


def _field_at(value: Any, path: str) -> Any:
    field = value_at(value, path)
    return MISSING_FIELD if field is MISSING else field


def _text(content: bytes | None) -> str:
    if content is None:
        return MISSING_FILE
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return BINARY_FILE
    return text if len(text) <= MAX_FILE_CHARACTERS else text[:MAX_FILE_CHARACTERS] + TRUNCATED
