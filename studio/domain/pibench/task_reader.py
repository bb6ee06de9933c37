"""``task.yaml`` read into a ``TaskSpec``."""

from __future__ import annotations

import json
import math
from contextlib import suppress

from studio.domain.pibench import fields
from studio.domain.pibench.encoding import decode
from studio.domain.pibench.nodes import Node
from studio.domain.pibench.studio_block import apply_task_block
from studio.domain.problems import Report
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec, ToolEvidence, Trigger, TriggerKind
from studio.domain.uids import default_uid

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
OBJECTIVE_KEYS = ("checklist", "files_read", "tools", "tools_evaluation_path")
TASK_TYPES = ("long_term", "short_term_independent", "short_term_contextual")
TRIGGER_KINDS: dict[str, TriggerKind] = {
    "user": "user_message",
    "user_query": "user_message",
    "environmental_signal": "webhook",
    "environment": "webhook",
    "env": "webhook",
}
"""What the format documents (``user``, ``user_query``, ``environmental_signal``) and what else published tasks have.
A signal that does not name its kind is a webhook: something arrives from outside."""


def read_task(root: Node, report: Report, *, persona: str, task_id: str) -> TaskSpec:
    """The task of the folder ``task_id``. Errors go to ``report``; what it returns then is not to be used.

    ``assets`` and ``depends_on`` lie elsewhere and are added by the caller.
    """
    if root.kind != "mapping":
        root.error(report, "The file is not a mapping.", "Start with “schema_version: v2” and the other keys below it.")
        return TaskSpec(task_id=task_id)
    fields.warn_unknown(root, TASK_FILE_KEYS, report)
    _check_version(root, report)
    _check_ids(root, report, persona, task_id)
    intent = fields.mapping_at(root, "intent", report)
    objectives = _objectives(root, report)
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
        intents=_intents(root, intent, report, persona, task_id),
        checklist=_checklist(objectives, report, persona, task_id),
        files_read=_files_read(objectives, report),
        tool_evidence=_tool_evidence(objectives, report),
        grader_script=_grader_script(objectives, report),
        metadata=fields.free_mapping(root, "metadata", report),
        source=root.value,
    )
    if not spec.title.strip():
        (root.get("title") or root).warn(
            report, "The title is empty.", ("Write a short title that says what the user wants.")
        )
    return apply_task_block(spec, root, report)


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
    """A signal's payload may be structured; the session then opens with it as JSON."""
    node = intent.get("initial_input")
    if node is not None and node.kind == "mapping" and trigger.kind != "user_message":
        with suppress(TypeError):  # keys that JSON does not have
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


def _intents(root: Node, intent: Node, report: Report, persona: str, task_id: str) -> tuple[HiddenIntent, ...]:
    fields.warn_unknown(intent, ("initial_input", "hidden_intent", "detailed_intent"), report, where="intent")
    if any(key.value == "detailed_intent" for key in intent.key_nodes()):
        next(key for key in intent.key_nodes() if key.value == "detailed_intent").error(
            report, "“detailed_intent” is not allowed in v2.", "Split it into the entries of “hidden_intent”."
        )
    outer = root.get("intent")
    if outer is not None and outer.kind != "mapping" and not outer.is_null:
        return ()  # told already
    node = intent.get("hidden_intent")
    if node is None or node.is_null or (node.kind == "sequence" and not node.items):
        (node or outer or root).error(
            report, "The task has no hidden intent.", "Add at least one entry “- content: …” under “hidden_intent”."
        )
        return ()
    intents = []
    for position, item in enumerate(fields.sequence_at(intent, "hidden_intent", report), 1):
        name = f"hidden_intent[{position}]"
        if item.kind != "mapping":
            item.error(report, f"{name} is not a mapping.", "Write it as “- content: …”.")
            continue
        fields.warn_unknown(item, ("content", "status"), report, where=name)
        content = fields.text_at(item, "content", report, name=f"{name}.content")
        if not content.strip():
            (item.get("content") or item).error(
                report, f"{name} has no content.", "Say what the user needs, or remove the entry."
            )
        intents.append(
            HiddenIntent(
                uid=default_uid(persona, task_id, "intent", position),
                content=content,
                initial_status="provided" if _status(item, name, report) == "provided" else "not_provided",
                source=item.value,
            )
        )
    return tuple(intents)


def _status(item: Node, name: str, report: Report) -> str:
    status = item.get("status")
    if status is None:
        return "not_provided"
    value = str(status.value).strip()
    if value not in ("not_provided", "provided"):
        status.error(
            report, f"{name}.status is “{value}”.", "Write “not_provided” or “provided”, or leave the line out."
        )
    return value


def _objectives(root: Node, report: Report) -> Node:
    objectives = fields.mapping_at(root, "objectives", report)
    for key in objectives.key_nodes():
        if key.value not in OBJECTIVE_KEYS:
            fix = "Remove it; the keys are checklist, files_read, tools and tools_evaluation_path."
            if key.value == "tools_checklist":
                fix = "Write the checks as a grader script and name it in “tools_evaluation_path”."
            key.error(report, f"“objectives” has the unknown key “{key.value}”.", fix)
    return objectives


def _checklist(objectives: Node, report: Report, persona: str, task_id: str) -> tuple[ChecklistItem, ...]:
    items = []
    for position, item in enumerate(
        fields.sequence_at(objectives, "checklist", report, name="objectives.checklist"), 1
    ):
        name = f"checklist[{position}]"
        if item.kind != "mapping":
            item.error(report, f"{name} is not a mapping.", "Write it as “- criterion: …”.")
            continue
        fields.warn_unknown(item, ("criterion", "weight", "evaluation"), report, where=name)
        criterion = fields.text_at(item, "criterion", report, name=f"{name}.criterion")
        if not criterion.strip():
            (item.get("criterion") or item).warn(
                report,
                f"{name} has no criterion; it is kept and not graded.",
                "Write the criterion, or remove the entry.",
            )
        evaluation = fields.text_at(item, "evaluation", report, name=f"{name}.evaluation")
        if evaluation.strip() not in ("", "llm"):
            (item.get("evaluation") or item).warn(
                report, f"{name}.evaluation is “{evaluation}”; only llm exists, and it is used.", "Write “llm”."
            )
        items.append(
            ChecklistItem(
                uid=default_uid(persona, task_id, "item", position),
                criterion=criterion,
                weight=_weight(item, name, report) if criterion.strip() else 1.0,
                source=item.value,
            )
        )
    return tuple(items)


def _weight(item: Node, name: str, report: Report) -> float:
    node = item.get("weight")
    if node is None:
        return 1.0
    try:
        weight = float(node.value if isinstance(node.value, str | int | float) else decode(node.value))
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not 0 < weight < math.inf:
        shown = decode(node.value) if node.kind == "scalar" else "…"
        node.error(
            report,
            f"{name}.weight is “{shown}” and must be a number greater than 0.",
            "Write a number, for instance 1.",
        )
        return 1.0
    if isinstance(node.value, str | bool):
        node.warn(report, f"{name}.weight is not a number; it is read as {weight:g}.", f"Write {weight:g}.")
    return weight


def _files_read(objectives: Node, report: Report) -> tuple[str, ...]:
    paths = fields.text_list(objectives, "files_read", report, name="objectives.files_read")
    node = objectives.get("files_read")
    if node is None:
        return paths
    for path in paths:
        if path.startswith("/") or ".." in path.split("/"):
            next((item for item in node.items if str(item.value).strip() == path), node).warn(
                report,
                f"“{path}” is not a path inside the workspace; judges will find the file missing.",
                "Use the file's path inside the workspace, without a leading “/”.",
            )
    return paths


def _tool_evidence(objectives: Node, report: Report) -> tuple[ToolEvidence, ...]:
    entries = []
    for position, item in enumerate(fields.sequence_at(objectives, "tools", report, name="objectives.tools"), 1):
        name = f"tools[{position}]"
        if item.kind != "mapping":
            item.error(report, f"{name} is not a mapping.", "Write it as “- <tool>: {call: […], result: […]}”.")
            continue
        tool_keys = [key for key in item.key_nodes() if key.value not in ("call", "result")]
        if len(tool_keys) != 1:
            item.error(
                report, f"{name} names {len(tool_keys)} tools and must name one.", "Give each tool an entry of its own."
            )
            continue
        tool = fields.node_text(tool_keys[0], f"{name}: the tool", report, longest=fields.ID_LENGTH).strip()
        if not tool:
            tool_keys[0].error(report, f"{name} names no tool.", "Write the tool's name as the key.")
            continue
        inner = fields.as_mapping(next(v for k, v in item.pairs if k is tool_keys[0]), report, f"{name}.{tool}")
        fields.warn_unknown(inner, ("call", "result"), report, where=f"{name}.{tool}")
        call, result = (
            _paths(inner if inner.get(side) is not None else item, side, report, f"{name}.{tool}.{side}")
            for side in ("call", "result")
        )
        if not call and not result:
            item.error(report, f"{name} shows nothing of “{tool}”.", "Name at least one path under “call” or “result”.")
        entries.append(ToolEvidence(tool=tool, call=call, result=result, source=item.value))
    return tuple(entries)


def _paths(parent: Node, side: str, report: Report, name: str) -> tuple[str, ...]:
    for position, item in enumerate(fields.sequence_at(parent, side, Report(""), name=name), 1):
        if item.kind == "scalar" and not str(item.value if item.value is not None else "").strip():
            item.error(report, f"{name}[{position}] is empty.", "Write the path, or remove the entry.")
    return fields.text_list(parent, side, report, name=name)


def _grader_script(objectives: Node, report: Report) -> str:
    node = objectives.get("tools_evaluation_path")
    if node is None or node.is_null:
        return ""
    value = node.value.strip() if isinstance(node.value, str) else ""
    if not value:
        node.error(
            report,
            "“tools_evaluation_path” is not a path.",
            "Write the script's path, for instance data/<persona>/scripts/x.py, or remove the line.",
        )
    elif not value.endswith(".py"):
        node.error(
            report,
            f"“tools_evaluation_path” is “{value}”, which is not a Python file.",
            "Name a file that ends in .py.",
        )
    elif len(value) > fields.PATH_LENGTH:
        node.error(report, "“tools_evaluation_path” is too long.", f"At most {fields.PATH_LENGTH} characters are kept.")
    elif value.startswith("/") or ".." in value.split("/"):
        node.warn(
            report,
            f"“{value}” does not lie inside the persona's folder; the grader will be missing.",
            "Write the path from the repository's root, for instance data/<persona>/scripts/x.py.",
        )
    return node.value if isinstance(node.value, str) else ""
