"""Writes a ``TaskSpec`` as ``task.yaml``: the imported document with the changes made since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studio.domain.pibench.encoding import Encoded, encode_mapping, get_key, pairs_of, remove_key, set_key
from studio.domain.pibench.fields import text_at
from studio.domain.pibench.imported_task import is_as_imported
from studio.domain.pibench.nodes import node_of
from studio.domain.pibench.studio_block import (
    KEY,
    TASK_KEYS,
    apply_dependency_and_asset_notes,
    with_listed_references,
)
from studio.domain.pibench.studio_block_writer import has_uids, set_block, task_block
from studio.domain.pibench.task_reader import TRIGGER_KINDS, read_task
from studio.domain.problems import Report
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec, ToolEvidence

TEXTS = ("environment_id", "title", "description", "task_type")


def task_document(spec: TaskSpec, persona: str) -> Encoded:
    """A raw value is preserved as long as reading it gives the current one."""
    if is_as_imported(spec):
        block = task_block(spec, uids=False)
        return {**spec.source, KEY: {key: block[key] for key in TASK_KEYS if key in block}} if block else spec.source
    return merged_document(spec, persona)


def merged_document(spec: TaskSpec, persona: str) -> Encoded:
    """The same from what reading the imported document gives."""
    raw: Encoded = spec.source or _skeleton(spec, persona)
    root = node_of(raw)
    old = read_task(root, Report(""), persona=persona, task_id=spec.task_id)
    old = old.model_copy(update={"depends_on": spec.depends_on, "assets": spec.assets})
    old = with_listed_references(apply_dependency_and_asset_notes(old, root), root)
    if old.user_id != spec.user_id and spec.user_id:
        raw = set_key(raw, "user_id", spec.user_id)
    for name in TEXTS:
        if getattr(old, name) != getattr(spec, name):
            raw = set_key(raw, name, getattr(spec, name))
    if old.trigger != spec.trigger:
        raw = _set_trigger(raw, spec)
    raw = _set_intent(raw, old, spec)
    raw = _set_objectives(raw, old, spec)
    if repr(old.metadata) != repr(spec.metadata):
        raw = set_key(raw, "metadata", spec.metadata)
    uids = not spec.source or has_uids(spec.source)
    return _set_block(raw, old, spec, uids=uids)


def _skeleton(spec: TaskSpec, persona: str) -> Encoded:
    return {
        "schema_version": "v2",
        "task_id": spec.task_id,
        "user_id": spec.user_id or persona,
        "environment_id": "",
        "title": "",
        "description": "",
        "task_type": "",
        "trigger": {"type": "user"},
        "intent": {"initial_input": "", "hidden_intent": []},
        **({"objectives": {}} if spec.checklist or spec.files_read or spec.tool_evidence or spec.grader_script else {}),
        "metadata": {},
    }


def _set_trigger(raw: Encoded, spec: TaskSpec) -> Encoded:
    """Only the format's own trigger type; kind and payload of a signal go into the ``studio`` block."""
    trigger = _mapping(raw, "trigger")
    by_user = spec.trigger.kind == "user_message"
    if (TRIGGER_KINDS.get(_text_at(trigger, "type").strip(), "user_message") == "user_message") == by_user:
        return raw
    return set_key(raw, "trigger", set_key(trigger, "type", "user" if by_user else "environmental_signal"))


def _set_intent(raw: Encoded, old: TaskSpec, spec: TaskSpec) -> Encoded:
    intent = _mapping(raw, "intent")
    if old.initial_request != spec.initial_request:
        intent = set_key(intent, "initial_input", spec.initial_request)
    if _intent_content(old.intents) != _intent_content(spec.intents):
        intent = set_key(intent, "hidden_intent", [_intent(item) for item in spec.intents])
    return set_key(raw, "intent", intent) if repr(intent) != repr(_mapping(raw, "intent")) else raw


def _intent_content(intents: Sequence[HiddenIntent]) -> list[tuple[Any, ...]]:
    return [(intent.content, intent.initial_status, repr(intent.source)) for intent in intents]


def _intent(intent: HiddenIntent) -> Encoded:
    raw: Encoded = intent.source or {"content": ""}
    if _text_at(raw, "content") != intent.content:
        raw = set_key(raw, "content", intent.content)
    status = get_key(raw, "status")
    if (str(status).strip() == "provided") != (intent.initial_status == "provided"):
        raw = set_key(raw, "status", intent.initial_status)
    return raw


def _set_objectives(raw: Encoded, old: TaskSpec, spec: TaskSpec) -> Encoded:
    objectives = before = _mapping(raw, "objectives")
    if _item_content(old.checklist) != _item_content(spec.checklist):
        objectives = _set_list(objectives, "checklist", [_item(item) for item in spec.checklist])
    if old.files_read != spec.files_read:
        objectives = _set_list(objectives, "files_read", list(spec.files_read))
    if repr(old.tool_evidence) != repr(spec.tool_evidence):
        objectives = _set_list(objectives, "tools", [_evidence(entry) for entry in spec.tool_evidence])
    if old.grader_script != spec.grader_script:
        key = "tools_evaluation_path"
        objectives = set_key(objectives, key, spec.grader_script) if spec.grader_script else remove_key(objectives, key)
    if repr(objectives) == repr(before):
        return raw
    if get_key(raw, "objectives") is None and any(key == "metadata" for key, _ in pairs_of(raw) or []):
        raw = _insert_before(raw, "objectives", objectives, "metadata")
    return set_key(raw, "objectives", objectives)


def _item_content(items: Sequence[ChecklistItem]) -> list[tuple[Any, ...]]:
    return [(item.criterion, item.weight, repr(item.source)) for item in items]


def _item(item: ChecklistItem) -> Encoded:
    raw: Encoded = item.source or {"criterion": ""}
    if _text_at(raw, "criterion") != item.criterion:
        raw = set_key(raw, "criterion", item.criterion)
    if item.criterion.strip() and not _has_weight(get_key(raw, "weight"), item.weight):
        raw = set_key(raw, "weight", int(item.weight) if item.weight.is_integer() else item.weight)
    return raw


def _has_weight(raw: Encoded, weight: float) -> bool:
    if raw is None:
        return weight == 1
    try:
        return float(raw) == weight
    except (TypeError, ValueError):
        return False


def _evidence(entry: ToolEvidence) -> Encoded:
    """The imported form if it is still equivalent, otherwise the plain form."""
    if entry.source:
        root = {"schema_version": "v2", "intent": {"hidden_intent": [{"content": "x"}]}}
        node = node_of({**root, "objectives": {"tools": [entry.source]}})
        [old] = read_task(node, Report(""), persona="", task_id="").tool_evidence or [None]
        if old == entry:
            return entry.source
    return {entry.tool: {"call": list(entry.call), "result": list(entry.result)}}


def _set_block(raw: Encoded, old: TaskSpec, spec: TaskSpec, *, uids: bool) -> Encoded:
    block = task_block(spec, uids=uids)
    if repr(block) == repr(task_block(old, uids=uids)):
        return raw
    return set_block(raw, block, TASK_KEYS)


def _set_list(mapping: Encoded, key: str, items: list[Encoded]) -> Encoded:
    return set_key(mapping, key, items) if items or get_key(mapping, key) is not None else mapping


def _insert_before(mapping: Encoded, key: str, value: Encoded, before: str) -> Encoded:
    pairs = [pair for pair in pairs_of(mapping) or [] if pair[0] != key]
    index = [name for name, _ in pairs].index(before)
    return encode_mapping([*pairs[:index], (key, value), *pairs[index:]])


def _text_at(raw: Encoded, key: str) -> str:
    return text_at(node_of(raw), key, Report(""))


def _mapping(raw: Encoded, key: str) -> Encoded:
    value = get_key(raw, key)
    return value if pairs_of(value) is not None else {}
