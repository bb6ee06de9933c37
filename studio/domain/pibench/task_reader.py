"""Reads ``task.yaml`` into a ``TaskSpec``."""

from __future__ import annotations

import json
import math
from contextlib import suppress

from studio.domain.pibench.encoding import decode
from studio.domain.pibench.nodes import ID_LENGTH, PATH_LENGTH, Node
from studio.domain.pibench.studio_block import KEY, apply_task_block
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec, ToolEvidence, Trigger, TriggerKind
from studio.domain.uids import default_uid

NO_MAPPING = "The file is not a mapping.", "Start with “schema_version: v2” and the other keys below it."
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
OBJECTIVE_KEYS = ("checklist", "files_read", "tools", "tools_evaluation_path")


def read_task(root: Node, *, persona: str, task_id: str) -> TaskSpec:
    """``task_id`` is the folder's name. Do not use the result if errors were reported. ``assets``, ``depends_on`` and
    the contents of references are added by the caller."""
    if root.kind != "mapping":
        root.error(*NO_MAPPING)
        return TaskSpec(task_id=task_id)
    root.warn_unknown(
        *("schema_version", "task_id", "user_id", "environment_id", "title", "description", "task_type"),
        *("trigger", "intent", "objectives", "metadata", KEY),
    )
    _check_version(root)
    _check_id(root, "task_id", task_id)
    user_id = _check_id(root, "user_id", persona)
    intent = root.mapping("intent")
    objectives = _objectives(root)
    trigger = _trigger(root)
    spec = TaskSpec(
        task_id=task_id,
        user_id=user_id,
        environment_id=root.text("environment_id", longest=ID_LENGTH),
        title=root.text("title"),
        description=root.text("description"),
        task_type=_task_type(root),
        trigger=trigger,
        initial_request=_initial_request(root, intent, trigger),
        intents=_intents(root, intent, persona, task_id),
        checklist=_checklist(objectives, persona, task_id),
        files_read=_files_shown(objectives),
        tool_evidence=read_tool_evidence(objectives),
        grader_script=_grader_script(objectives),
        metadata=root.free_mapping("metadata"),
        source=root.value,
    )
    if not spec.title.strip():
        (root.get("title") or root).warn("The title is empty.", "Write a short title that says what the user wants.")
    if root.get(KEY) is not None:
        spec = apply_task_block(spec, root)
    nodes = {
        "title": root.get("title"),
        "intents": intent.get("hidden_intent"),
        "checklist": objectives.get("checklist"),
        "files_read": objectives.get("files_read"),
        "tool_evidence": objectives.get("tools"),
    }
    for field, message, fix in spec.size_problems():
        (nodes.get(field, root.get(KEY)) or root).error(message, fix)
    return spec


def _check_version(root: Node) -> None:
    node = root.get("schema_version")
    if node is None:
        root.error("“schema_version” is missing.", "Add the line “schema_version: v2”.")
    elif isinstance(node.value, str) and node.value.strip() == "v2":
        if node.value != "v2":
            node.warn("“schema_version” has spaces around it.", "Remove them.")
    else:
        shown = decode(node.value) if node.kind == "scalar" else "…"
        message = f"“schema_version” is “{shown}”; only v2 is read."
        node.error(message, "Convert the task to v2, then write “v2”.")


def _check_id(root: Node, key: str, expected: str) -> str:
    """As it is written."""
    value, node = root.identifier(key), root.get(key) or root
    if not value.strip():
        message = f"“{key}” is empty; the folder's name “{expected}” is used."
        node.warn(message, f"Write “{key}: {expected}”.")
    elif value.strip() != expected.strip():
        message = f"“{key}” is “{value.strip()}” and the folder is called “{expected}”; the folder's name is used."
        node.warn(message, "Make the two the same.")
    return value


def _task_type(root: Node) -> str:
    value = root.text("task_type", longest=ID_LENGTH)
    if value.strip() not in TASK_TYPES:
        message = f"“task_type” is “{value}”, which the format does not name."
        (root.get("task_type") or root).warn(message, f"Use one of {', '.join(TASK_TYPES)}.")
    return value


def _trigger(root: Node) -> Trigger:
    trigger = root.mapping("trigger")
    trigger.warn_unknown("type", where="trigger")
    kind = trigger.text("type", "trigger.type").strip()
    if kind not in TRIGGER_KINDS:
        message = f"The trigger type “{kind}” is unknown; the task is treated as started by a user message."
        node = trigger.get("type") or root.get("trigger") or root
        node.warn(message, f"Use one of {', '.join(TRIGGER_KINDS)}.")
    return Trigger(kind=TRIGGER_KINDS.get(kind, "user_message"))


def _initial_request(root: Node, intent: Node, trigger: Trigger) -> str:
    """A signal's payload can be a mapping; the session then opens with it as JSON."""
    node = intent.get("initial_input")
    if node is not None and node.kind == "mapping" and trigger.kind != "user_message":
        with suppress(TypeError):  # keys that JSON cannot express
            return json.dumps(decode(node.value), ensure_ascii=False, indent=2, default=str)
    if node is not None and node.kind != "scalar":
        node.error("“initial_input” is not one text.", "Write it as one text, in quotes or as a block (|).")
        return ""
    value = intent.text("initial_input")
    if not value.strip():
        message = "“initial_input” is empty: the task would start with nothing."
        (node or root.get("intent") or root).warn(message, "Write the user's first message.")
    return value


def _intents(root: Node, intent: Node, persona: str, task_id: str) -> tuple[HiddenIntent, ...]:
    intent.warn_unknown("initial_input", "hidden_intent", "detailed_intent", where="intent")
    for key in intent.keys:
        if key.value == "detailed_intent":
            key.error("“detailed_intent” is not allowed in v2.", "Split it into the entries of “hidden_intent”.")
    outer = root.get("intent")
    if outer is not None and outer.kind != "mapping" and not outer.is_null:
        return ()  # already reported
    node = intent.get("hidden_intent")
    if node is None or node.is_null or (node.kind == "sequence" and not node.items):
        fix = "Add at least one entry “- content: …” under “hidden_intent”."
        (node or outer or root).error("The task has no hidden intent.", fix)
        return ()
    intents = []
    for position, item in enumerate(intent.sequence("hidden_intent"), 1):
        name = f"hidden_intent[{position}]"
        if item.kind != "mapping":
            item.error(f"{name} is not a mapping.", "Write it as “- content: …”.")
            continue
        item.warn_unknown("content", "status", where=name)
        content = item.text("content", f"{name}.content")
        if not content.strip():
            fix = "Say what the user needs, or remove the entry."
            (item.get("content") or item).error(f"{name} has no content.", fix)
        intents.append(
            HiddenIntent(
                uid=default_uid(persona, task_id, "intent", position),
                content=content,
                initial_status="provided" if _status(item, name) == "provided" else "not_provided",
                source=item.value,
            )
        )
    return tuple(intents)


def _status(item: Node, name: str) -> str:
    status = item.get("status")
    if status is None:
        return "not_provided"
    value = str(status.value).strip()
    if value not in ("not_provided", "provided"):
        fix = "Write “not_provided” or “provided”, or leave the line out."
        status.error(f"{name}.status is “{value}”.", fix)
    return value


def _objectives(root: Node) -> Node:
    objectives = root.mapping("objectives")
    for key in objectives.keys:
        if key.value not in OBJECTIVE_KEYS:
            fix = "Remove it; the keys are checklist, files_read, tools and tools_evaluation_path."
            if key.value == "tools_checklist":
                fix = "Write the checks as a grader script and name it in “tools_evaluation_path”."
            key.error(f"“objectives” has the unknown key “{key.value}”.", fix)
    return objectives


def _checklist(objectives: Node, persona: str, task_id: str) -> tuple[ChecklistItem, ...]:
    items = []
    for position, item in enumerate(objectives.sequence("checklist", "objectives.checklist"), 1):
        name = f"checklist[{position}]"
        if item.kind != "mapping":
            item.error(f"{name} is not a mapping.", "Write it as “- criterion: …”.")
            continue
        item.warn_unknown("criterion", "weight", "evaluation", where=name)
        criterion = item.text("criterion", f"{name}.criterion")
        if not criterion.strip():
            message = f"{name} has no criterion; it is kept and not graded."
            (item.get("criterion") or item).warn(message, "Write the criterion, or remove the entry.")
        evaluation = item.text("evaluation", f"{name}.evaluation")
        if evaluation.strip() not in ("", "llm"):
            message = f"{name}.evaluation is “{evaluation}”; only llm exists, and it is used."
            (item.get("evaluation") or item).warn(message, "Write “llm”.")
        items.append(
            ChecklistItem(
                uid=default_uid(persona, task_id, "item", position),
                criterion=criterion,
                weight=_weight(item, name) if criterion.strip() else 1.0,
                source=item.value,
            )
        )
    return tuple(items)


def _weight(item: Node, name: str) -> float:
    node = item.get("weight")
    if node is None:
        return 1.0
    try:
        weight = float(node.value if isinstance(node.value, str | int | float) else decode(node.value))
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not 0 < weight < math.inf:
        shown = decode(node.value) if node.kind == "scalar" else "…"
        message = f"{name}.weight is “{shown}” and must be a number greater than 0."
        node.error(message, "Write a number, for instance 1.")
        return 1.0
    if isinstance(node.value, str | bool):
        node.warn(f"{name}.weight is not a number; it is read as {weight:g}.", f"Write {weight:g}.")
    return weight


def _files_shown(objectives: Node) -> tuple[str, ...]:
    paths = objectives.texts("files_read", "objectives.files_read")
    node = objectives.get("files_read") or objectives
    for path in paths:
        if path.startswith("/") or ".." in path.split("/"):
            message = f"“{path}” is not a path inside the workspace; judges will find the file missing."
            item = next((item for item in node.items if str(item.value).strip() == path), node)
            item.warn(message, "Use the file's path inside the workspace, without a leading “/”.")
    return paths


def read_tool_evidence(objectives: Node) -> tuple[ToolEvidence, ...]:
    entries = []
    for position, item in enumerate(objectives.sequence("tools", "objectives.tools"), 1):
        name = f"tools[{position}]"
        if item.kind != "mapping":
            item.error(f"{name} is not a mapping.", "Write it as “- <tool>: {call: […], result: […]}”.")
            continue
        tools = [(key, value) for key, value in item.pairs if key.value not in ("call", "result")]
        if len(tools) != 1:
            item.error(f"{name} names {len(tools)} tools and must name one.", "Give each tool an entry of its own.")
            continue
        [(key, value)] = tools
        tool = key.as_text(f"{name}: the tool", ID_LENGTH).strip()
        if not tool:
            key.error(f"{name} names no tool.", "Write the tool's name as the key.")
            continue
        inner = value.as_mapping(f"{name}.{tool}")
        inner.warn_unknown("call", "result", where=f"{name}.{tool}")
        call, result = (
            _paths(inner if inner.get(side) is not None else item, side, f"{name}.{tool}.{side}")
            for side in ("call", "result")
        )
        if not call and not result:
            item.error(f"{name} shows nothing of “{tool}”.", "Name at least one path under “call” or “result”.")
        entries.append(ToolEvidence(tool=tool, call=call, result=result, source=item.value))
    return tuple(entries)


def _paths(parent: Node, side: str, name: str) -> tuple[str, ...]:
    node = parent.get(side)
    for position, item in enumerate(node.items if node else (), 1):
        if item.kind == "scalar" and not str(item.value if item.value is not None else "").strip():
            item.error(f"{name}[{position}] is empty.", "Write the path, or remove the entry.")
    return parent.texts(side, name)


def _grader_script(objectives: Node) -> str:
    key = "tools_evaluation_path"
    node = objectives.given(key)
    if node is None:
        return ""
    value = node.value.strip() if isinstance(node.value, str) else ""
    if not value:
        fix = "Write the script's path, for instance data/<persona>/scripts/x.py, or remove the line."
        node.error(f"“{key}” is not a path.", fix)
    elif not value.endswith(".py"):
        node.error(f"“{key}” is “{value}”, which is not a Python file.", "Name a file that ends in .py.")
    elif len(value) > PATH_LENGTH:
        node.error(f"“{key}” is too long.", f"At most {PATH_LENGTH} characters are kept.")
    elif value.startswith("/") or ".." in value.split("/"):
        fix = "Write the path from the repository's root, for instance data/<persona>/scripts/x.py."
        node.warn(f"“{value}” does not lie inside the persona's folder; the grader will be missing.", fix)
    return node.value if isinstance(node.value, str) else ""
