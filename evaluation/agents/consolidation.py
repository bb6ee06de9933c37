"""Consolidating a session into the memory for later ones, as the paper's scaffold (Nanobot) does it.

Two files: ``MEMORY.md`` holds what stays true and is rewritten whole; ``HISTORY.md`` is a log that each session adds
a paragraph to. A model that does not save in three tries leaves the conversation itself in the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.agents.messages import write_record
from evaluation.llm import Completion, ContextTooLongError, RequestRejectedError
from evaluation.protocol.participants import Aside
from evaluation.tools.workspace import MEMORY, Workspace, WorkspaceError

HISTORY = "HISTORY.md"
TRIES = 3
MAX_RECORD = 200_000
"""Characters of the conversation that the model is given; halved while they are too long for it."""
MAX_RAW = 40_000
"""Characters of a conversation that goes into the log as it is."""

_SYSTEM = "You are a memory consolidation agent. Call the save_memory tool with your consolidation of the conversation."
_PROMPT = """\
Process this conversation and call the save_memory tool with your consolidation.

## Current long-term memory
{memory}

## Conversation to process
{record}"""
SAVE_MEMORY = {
    "type": "function",
    "function": {
        "name": "save_memory",
        "description": "Save what the conversation leaves for later sessions.",
        "parameters": {
            "type": "object",
            "properties": {
                "history_entry": {
                    "type": "string",
                    "description": "One paragraph on what happened, was decided and was made, with names and paths "
                    "that a later search would look for.",
                },
                "memory_update": {
                    "type": "string",
                    "description": "The whole long-term memory as Markdown: every existing fact with the new ones; "
                    "unchanged if there is nothing new.",
                },
            },
            "required": ["history_entry", "memory_update"],
        },
    },
}
_FORCED = {"type": "function", "function": {"name": "save_memory"}}

Ask = Callable[..., Completion]


def consolidate(
    ask: Ask, workspace: Workspace, messages: Sequence[Mapping[str, Any]], stamp: str = ""
) -> tuple[Aside, ...]:
    """Write both files; the log's entry begins with ``stamp``. Raises what ``ask`` raises, and WorkspaceError if they
    cannot be written."""
    memory = _read(workspace, MEMORY)
    record = write_record(messages)
    for attempt in range(TRIES):
        saved = _saved(_ask(ask, memory, record[-MAX_RECORD:], attempt))
        if saved is not None:
            entry, update = saved
            _append(workspace, stamp + entry)
            if update != memory:
                workspace.write(MEMORY, update.encode())
            return (Aside(f"Added to {HISTORY}", entry), Aside(f"{MEMORY} as consolidated", update))
    _append(workspace, f"{stamp}[RAW] {len(messages)} messages\n{record[-MAX_RAW:]}")
    return (Aside(f"Added to {HISTORY}", f"The conversation as it is: the model did not save it in {TRIES} tries."),)


def _ask(ask: Ask, memory: str, record: str, attempt: int) -> Completion:
    question = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _PROMPT.format(memory=memory or "(empty)", record=record)},
    ]
    options: dict[str, Any] = {"tools": [SAVE_MEMORY], "sequence": attempt}
    try:
        return ask(question, tool_choice=_FORCED, **options)
    except ContextTooLongError:
        if len(record) < 2_000:
            raise
        return _ask(ask, memory, record[len(record) // 2 :], attempt)
    except RequestRejectedError:  # some endpoints know no forced choice
        return ask(question, **options)


def _saved(completion: Completion) -> tuple[str, str] | None:
    for call in completion.tool_calls:
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            entry, update = arguments.get("history_entry"), arguments.get("memory_update")
            if isinstance(entry, str) and entry.strip() and isinstance(update, str):
                return entry.strip(), update
    return None


def _append(workspace: Workspace, entry: str) -> None:
    workspace.write(HISTORY, f"{_read(workspace, HISTORY)}{entry.rstrip()}\n\n".encode())


def _read(workspace: Workspace, path: str) -> str:
    try:
        return workspace.read(path).decode("utf-8", "replace")
    except WorkspaceError:
        return ""
