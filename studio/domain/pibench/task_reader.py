"""Reads ``task.yaml`` into a ``TaskSpec``."""

from __future__ import annotations

import json
from contextlib import suppress

from studio.domain.pibench import fields
from studio.domain.pibench.encoding import decode
from studio.domain.pibench.intent_reader import read_intents
from studio.domain.pibench.nodes import Node
from studio.domain.pibench.objectives_reader import (
    objectives_of,
    read_checklist,
    read_files_shown,
    read_grader_script,
    read_tool_evidence,
)
from studio.domain.pibench.studio_block import KEY, apply_task_block
from studio.domain.problems import Report
from studio.domain.task import TaskSpec, Trigger, TriggerKind
from studio.domain.task_size import size_problems

TASK_FILE_KEYS = (
    "schema_version",
    "task_id",
    "user_id",
    "environment_id",
    "title",
    "description",
    "task_type",
    "trigger",
    "intent",
    "objectives",
    "metadata",
    "studio",
)
TASK_TYPES = ("long_term", "short_term_independent", "short_term_contextual")
TRIGGER_KINDS: dict[str, TriggerKind] = {
    "user": "user_message",
    "user_query": "user_message",
    "environmental_signal": "webhook",
    "environment": "webhook",
    "env": "webhook",
}
"""The documented types (``user``, ``user_query``, ``environmental_signal``) and others in published tasks. A signal
of unknown kind is a webhook."""


def read_task(root: Node, report: Report, *, persona: str, task_id: str) -> TaskSpec:
    """``task_id`` is the folder's name. Do not use the result if ``report`` has errors. ``assets`` and
    ``depends_on`` are added by the caller."""
    if root.kind != "mapping":
        root.error(report, "The file is not a mapping.", "Start with “schema_version: v2” and the other keys below it.")
        return TaskSpec(task_id=task_id)
    fields.warn_unknown(root, TASK_FILE_KEYS, report)
    _check_version(root, report)
    _check_ids(root, report, persona, task_id)
    intent = fields.mapping_at(root, "intent", report)
    objectives = objectives_of(root, report)
    trigger = _trigger(root, report)
    spec = TaskSpec(
        task_id=task_id,
        user_id=fields.text_at(root, "user_id", Report(""), longest=fields.ID_LENGTH),
        environment_id=fields.text_at(root, "environment_id", report, longest=fields.ID_LENGTH),
        title=fields.text_at(root, "title", report),
        description=fields.text_at(root, "description", report),
        task_type=_task_type(root, report),
        trigger=trigger,
        initial_request=_initial_request(root, intent, report, trigger),
        intents=read_intents(root, intent, report, persona, task_id),
        checklist=read_checklist(objectives, report, persona, task_id),
        files_read=read_files_shown(objectives, report),
        tool_evidence=read_tool_evidence(objectives, report),
        grader_script=read_grader_script(objectives, report),
        metadata=fields.free_mapping(root, "metadata", report),
        source=root.value,
    )
    if not spec.title.strip():
        (root.get("title") or root).warn(
            report, "The title is empty.", ("Write a short title that says what the user wants.")
        )
    if root.get(KEY) is not None:
        spec = apply_task_block(spec, root, report)
    for field, message, fix in size_problems(spec):
        (_node_of(field, root, intent, objectives) or root).error(report, message, fix)
    return spec


def _node_of(field: str, root: Node, intent: Node, objectives: Node) -> Node | None:
    return {
        "title": root.get("title"),
        "intents": intent.get("hidden_intent"),
        "checklist": objectives.get("checklist"),
        "files_read": objectives.get("files_read"),
        "tool_evidence": objectives.get("tools"),
    }.get(field, root.get("studio"))


def _check_version(root: Node, report: Report) -> None:
    node = root.get("schema_version")
    if node is None:
        root.error(report, "“schema_version” is missing.", "Add the line “schema_version: v2”.")
    elif isinstance(node.value, str) and node.value.strip() == "v2":
        if node.value != "v2":
            node.warn(report, "“schema_version” has spaces around it.", "Remove them.")
    else:
        shown = decode(node.value) if node.kind == "scalar" else "…"
        node.error(
            report, f"“schema_version” is “{shown}”; only v2 is read.", "Convert the task to v2, then write “v2”."
        )


def _check_ids(root: Node, report: Report, persona: str, task_id: str) -> None:
    for key, expected in (("task_id", task_id), ("user_id", persona)):
        value = fields.identifier_at(root, key, report)
        node = root.get(key) or root
        if not value:
            node.warn(
                report, f"“{key}” is empty; the folder's name “{expected}” is used.", f"Write “{key}: {expected}”."
            )
        elif value != expected.strip():
            node.warn(
                report,
                f"“{key}” is “{value}” and the folder is called “{expected}”; the folder's name is used.",
                "Make the two the same.",
            )


def _task_type(root: Node, report: Report) -> str:
    value = fields.text_at(root, "task_type", report, longest=fields.ID_LENGTH)
    if value.strip() not in TASK_TYPES:
        (root.get("task_type") or root).warn(
            report, f"“task_type” is “{value}”, which the format does not name.", f"Use one of {', '.join(TASK_TYPES)}."
        )
    return value


def _trigger(root: Node, report: Report) -> Trigger:
    trigger = fields.mapping_at(root, "trigger", report)
    fields.warn_unknown(trigger, ("type",), report, where="trigger")
    kind = fields.text_at(trigger, "type", report, name="trigger.type").strip()
    if kind not in TRIGGER_KINDS:
        (trigger.get("type") or root.get("trigger") or root).warn(
            report,
            f"The trigger type “{kind}” is unknown; the task is treated as started by a user message.",
            f"Use one of {', '.join(TRIGGER_KINDS)}.",
        )
    return Trigger(kind=TRIGGER_KINDS.get(kind, "user_message"))


def _initial_request(root: Node, intent: Node, report: Report, trigger: Trigger) -> str:
    """A signal's payload can be a mapping; the session then opens with it as JSON."""
    node = intent.get("initial_input")
    if node is not None and node.kind == "mapping" and trigger.kind != "user_message":
        with suppress(TypeError):  # keys that JSON cannot express
            return json.dumps(decode(node.value), ensure_ascii=False, indent=2, default=str)
    if node is not None and node.kind != "scalar":
        node.error(report, "“initial_input” is not one text.", "Write it as one text, in quotes or as a block (|).")
        return ""
    value = fields.text_at(intent, "initial_input", report)
    if not value.strip():
        (node or root.get("intent") or root).warn(
            report, "“initial_input” is empty: the task would start with nothing.", "Write the user's first message."
        )
    return value
