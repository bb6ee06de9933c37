"""Reads ``objectives`` of ``task.yaml``: checklist, files and tools shown to judges, grader script."""

from __future__ import annotations

import math

from studio.domain.pibench import fields
from studio.domain.pibench.encoding import decode
from studio.domain.pibench.nodes import Node
from studio.domain.problems import Report
from studio.domain.task import ChecklistItem, ToolEvidence
from studio.domain.uids import default_uid

OBJECTIVE_KEYS = ("checklist", "files_read", "tools", "tools_evaluation_path")


def objectives_of(root: Node, report: Report) -> Node:
    objectives = fields.mapping_at(root, "objectives", report)
    for key in objectives.key_nodes():
        if key.value not in OBJECTIVE_KEYS:
            fix = "Remove it; the keys are checklist, files_read, tools and tools_evaluation_path."
            if key.value == "tools_checklist":
                fix = "Write the checks as a grader script and name it in “tools_evaluation_path”."
            key.error(report, f"“objectives” has the unknown key “{key.value}”.", fix)
    return objectives


def read_checklist(objectives: Node, report: Report, persona: str, task_id: str) -> tuple[ChecklistItem, ...]:
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


def read_files_shown(objectives: Node, report: Report) -> tuple[str, ...]:
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


def read_tool_evidence(objectives: Node, report: Report) -> tuple[ToolEvidence, ...]:
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


def read_grader_script(objectives: Node, report: Report) -> str:
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
