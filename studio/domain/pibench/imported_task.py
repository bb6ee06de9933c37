"""Tells quickly that a task is as its document says, which reading the document again tells twenty times slower."""

from __future__ import annotations

from collections.abc import Sequence

from studio.domain.pibench.encoding import TAG, Encoded
from studio.domain.pibench.fields import ID_LENGTH, PATH_LENGTH
from studio.domain.pibench.task_reader import TRIGGER_KINDS
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec

_SHORT = {"user_id", "environment_id", "task_type"}
"""Longer ones are cut when they are read."""


def is_as_imported(spec: TaskSpec) -> bool:
    """Whether ``spec.source`` has no ``studio`` block and reading it gives the task, but for what such a block would
    say. False also for whatever is unusual in a document."""
    raw = spec.source
    if not raw or TAG in raw or "studio" in raw:
        return False
    intent, objectives = _mapping(raw.get("intent")), _mapping(raw.get("objectives"))
    trigger, metadata = _mapping(raw.get("trigger")), _mapping(raw.get("metadata"))
    if intent is None or objectives is None or trigger is None or metadata is None or objectives.get("tools"):
        return False
    return (
        (not spec.user_id or _is_text(raw, "user_id", spec.user_id))
        and _is_text(raw, "environment_id", spec.environment_id)
        and _is_text(raw, "title", spec.title)
        and _is_text(raw, "description", spec.description)
        and _is_text(raw, "task_type", spec.task_type)
        and _is_trigger(trigger.get("type"), spec)
        and _is_text(intent, "initial_input", spec.initial_request)
        and _are_intents(intent.get("hidden_intent"), spec.intents)
        and _are_items(objectives.get("checklist"), spec.checklist)
        and _are_paths(objectives.get("files_read"), spec.files_read)
        and not spec.tool_evidence
        and _is_text(objectives, "tools_evaluation_path", spec.grader_script)
        and repr(metadata) == repr(spec.metadata)
    )


def _mapping(value: Encoded) -> dict[str, Encoded] | None:
    if value is None:
        return {}
    return value if isinstance(value, dict) and TAG not in value else None


def _is_text(mapping: dict[str, Encoded], key: str, wanted: str) -> bool:
    value = mapping.get(key)
    if value is None:
        return not wanted
    return isinstance(value, str) and value == wanted and (key not in _SHORT or len(value) <= ID_LENGTH)


def _is_trigger(kind: Encoded, spec: TaskSpec) -> bool:
    if spec.trigger.payload or not (kind is None or isinstance(kind, str)):
        return False
    return spec.trigger.kind == TRIGGER_KINDS.get((kind or "").strip(), "user_message")


def _are_intents(rows: Encoded, intents: Sequence[HiddenIntent]) -> bool:
    if rows is None or not isinstance(rows, list) or len(rows) != len(intents):
        return rows is None and not intents
    for row, intent in zip(rows, intents, strict=True):
        if not isinstance(row, dict) or TAG in row or not _is_text(row, "content", intent.content):
            return False
        status = row.get("status", "not_provided")
        if status != intent.initial_status or repr(row) != repr(intent.source):
            return False
    return True


def _are_items(rows: Encoded, items: Sequence[ChecklistItem]) -> bool:
    if rows is None or not isinstance(rows, list) or len(rows) != len(items):
        return rows is None and not items
    for row, item in zip(rows, items, strict=True):
        if not isinstance(row, dict) or TAG in row or not _is_text(row, "criterion", item.criterion):
            return False
        weight = row.get("weight", 1) if item.criterion.strip() else 1
        if type(weight) not in (int, float) or weight != item.weight or weight <= 0 or repr(row) != repr(item.source):
            return False
    return True


def _are_paths(rows: Encoded, paths: Sequence[str]) -> bool:
    if rows is None or not isinstance(rows, list):
        return rows is None and not paths
    return rows == list(paths) and all(path and path == path.strip() and len(path) <= PATH_LENGTH for path in paths)
