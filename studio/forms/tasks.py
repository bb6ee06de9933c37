"""The task editor's form: a TaskSpec as the strings in its inputs, and the form as posted."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from typing import Any

from studio.domain.rule_values import write_values
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec
from studio.files.tokens import FileTokens
from studio.forms.expected_artifacts import artifact_rows, posted_artifacts
from studio.forms.files import file_rows, keyed, posted_files
from studio.forms.post_data import MAPPING, NEW, Posted, mapping_rows
from studio.forms.signals import SWITCH

ONE_LINE = ("task_id", "user_id", "environment_id", "task_type", "category", "grader_script", "group")
AREAS = ("title", "description", "initial_request", "reference_workflow")
LINES = ("files_read",)
PICKS = ("tools", "skills")
INTENT = ("content", "scope", "initial_status")
RECOVERY = ("kind", "ref", "note")
ITEM = (
    "criterion",
    "weight",
    "grader",
    "rule_kind",
    "rule_path",
    "rule_text",
    "rule_tool",
    "rule_arguments",
    "rule_record",
    "rule_app",
    "evidence",
)


@dataclass
class TaskForm:
    values: dict[str, Any]
    intents: list[dict[str, Any]]
    checklist: list[dict[str, Any]]
    depends_on: list[dict[str, Any]]
    tool_evidence: list[dict[str, Any]]
    payload: list[dict[str, Any]]
    metadata: list[dict[str, Any]]
    assets: list[dict[str, Any]]
    expected_artifacts: list[dict[str, Any]]
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def references(self) -> list[dict[str, Any]]:
        return [row for row in self.expected_artifacts if row["stored"] or row["text"] is not None]

    @property
    def files(self) -> list[dict[str, Any]]:
        return [*self.assets, *self.expected_artifacts]


def task_form(spec: TaskSpec, tokens: FileTokens) -> TaskForm:
    return TaskForm(
        values={name: getattr(spec, name) for name in (*ONE_LINE, *AREAS)}
        | {name: "\n".join(getattr(spec, name)) for name in LINES}
        | {name: list(getattr(spec, name)) for name in PICKS}
        | {"trigger": spec.trigger.kind, SWITCH: "rows", "payload_raw": ""},
        intents=[
            {
                "key": intent.uid,
                "content": intent.content,
                "scope": intent.scope,
                "initial_status": intent.initial_status,
                "from": [
                    {"key": f"r{number}", "kind": source.kind, "ref": source.ref, "note": source.note}
                    for number, source in enumerate(intent.recoverable_from)
                ],
            }
            for intent in spec.intents
        ],
        checklist=[item_row(item) for item in spec.checklist],
        depends_on=[
            {"key": f"d{number}", "task_id": dependency.task_id, "carries_over": dependency.carries_over}
            for number, dependency in enumerate(spec.depends_on)
        ],
        tool_evidence=[
            {"key": key, "tool": evidence.tool, "call": "\n".join(evidence.call), "result": "\n".join(evidence.result)}
            for key, evidence in keyed("e", spec.tool_evidence, lambda evidence: evidence.tool).items()
        ],
        payload=mapping_rows(spec.trigger.payload),
        metadata=mapping_rows(spec.metadata),
        assets=file_rows(spec.assets, tokens),
        expected_artifacts=artifact_rows(spec.expected_artifacts, tokens),
    )


def posted_task_form(posted: Posted, base: TaskSpec, tokens: FileTokens) -> TaskForm:
    intents = posted.rows("intents", INTENT)
    for row in intents:
        row["from"] = posted.rows(f"intents.{row['key']}.from", RECOVERY)
    checklist = posted.rows("checklist", ITEM)
    for row in checklist:
        row |= _posted_links(posted, f"checklist.{row['key']}")
    return TaskForm(
        values={name: posted.text(name) for name in (*ONE_LINE, *AREAS, *LINES)}
        | {name: posted.values(name) for name in PICKS}
        | {"trigger": posted.text("trigger", "user_message")}
        | {SWITCH: posted.text(SWITCH, "rows"), "payload_raw": posted.text("payload_raw")},
        intents=intents,
        checklist=checklist,
        depends_on=posted.rows("depends_on", ("task_id", "carries_over")),
        tool_evidence=posted.rows("tool_evidence", ("tool", "call", "result")),
        payload=posted.rows("payload", MAPPING),
        metadata=posted.rows("metadata", MAPPING),
        assets=posted_files(posted, "assets", base.assets, tokens),
        expected_artifacts=posted_artifacts(posted, base.expected_artifacts, tokens),
    )


def _posted_links(posted: Posted, item: str) -> dict[str, Any]:
    """The intents an item follows from, and its evidence.

    A brief row, one of a long list that was never opened, has one field for both: intent keys in the first line, then
    the evidence.
    """
    brief = f"{item}.brief" in posted.data
    if not brief:
        return {"follows_from": posted.values(f"{item}.follows_from"), "brief": False}
    keys, _, evidence = posted.text(f"{item}.brief").partition("\n")
    return {"follows_from": keys.split(), "evidence": evidence, "brief": True}


def item_row(item: ChecklistItem) -> dict[str, Any]:
    rule = item.rule or ExactCheck(kind="file_contains")
    return {
        "key": item.uid,
        "criterion": item.criterion,
        "weight": str(int(item.weight)) if item.weight.is_integer() else repr(item.weight),
        "grader": item.grader,
        "rule_kind": rule.kind,
        "rule_path": rule.path,
        "rule_text": rule.text,
        "rule_tool": rule.tool,
        "rule_arguments": write_values(rule.arguments, rule.containing),
        "rule_record": f"{rule.app}.{rule.table}" if rule.table else "",
        "rule_app": rule.app,
        "evidence": "\n".join(item.evidence),
        "follows_from": list(item.follows_from),
    }


def uid_of_row(key: str) -> str:
    """The uid of a row. A new row gets the same one each time the page is sent, since it is autosaved repeatedly."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, key)) if key.startswith(NEW) else key


def with_row_keys_of(form: TaskForm, sent: TaskForm) -> TaskForm:
    """``form`` with the keys that new rows have in ``sent``, the form as the page sent it."""
    keys = {uid_of_row(row["key"]): row["key"] for row in (*sent.intents, *sent.checklist)}
    for row in (*form.intents, *form.checklist):
        row["key"] = keys.get(row["key"], row["key"])
    for row in form.checklist:
        row["follows_from"] = [keys.get(key, key) for key in row["follows_from"]]
    artifacts = {row["path"].strip(): row["key"] for row in sent.expected_artifacts if row["key"].startswith(NEW)}
    for row in form.expected_artifacts:
        row["key"] = artifacts.get(row["path"], row["key"])
    return form


def without_empty_rows(form: TaskForm, spec: TaskSpec) -> TaskForm:
    """The form without rows that are still empty, so that its rows correspond one to one to those of ``spec``."""
    intents, items = {intent.uid for intent in spec.intents}, {item.uid for item in spec.checklist}
    return replace(
        form,
        intents=[row for row in form.intents if uid_of_row(row["key"]) in intents],
        checklist=[row for row in form.checklist if uid_of_row(row["key"]) in items],
        assets=sorted(form.assets, key=lambda row: row["path"].strip()),
        expected_artifacts=[row for row in form.expected_artifacts if row["path"].strip()],
    )
