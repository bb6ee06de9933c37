"""The task editor's form: a TaskSpec as the strings in its inputs, the form as posted, and its TaskSpec."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from studio.domain.rule_values import ON_RECORDS, ValuesError, check_fields, read_values, write_values
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    HiddenIntent,
    Recovery,
    RuleKind,
    TaskSpec,
    ToolEvidence,
    Trigger,
    TriggerKind,
)
from studio.files.tokens import FileTokens
from studio.forms.files import (
    artifact_rows,
    file_rows,
    keyed,
    posted_artifacts,
    posted_files,
    read_artifacts,
    read_files,
)
from studio.forms.post_data import MAPPING, NEW, Posted, mapping_rows, preserve, read_lines, read_mapping, read_picks
from studio.forms.signals import SWITCH, read_payload

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
        assets=posted_files(posted, base.assets, tokens),
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


def read_task_form(form: TaskForm, base: TaskSpec) -> tuple[TaskSpec, dict[str, str]]:
    """The task as far as the form can be read, and errors by input."""
    reader = _TaskReader(form, base)
    values = form.values
    fields: dict[str, Any] = {name: preserve(getattr(base, name), values[name], one_line=True) for name in ONE_LINE}
    fields |= {name: preserve(getattr(base, name), values[name]) for name in AREAS}
    fields |= {name: read_lines(getattr(base, name), values[name]) for name in LINES}
    fields |= {name: read_picks(getattr(base, name), values[name]) for name in PICKS}
    fields["intents"] = reader.intents()
    fields["checklist"] = reader.checklist()
    fields["depends_on"] = reader.depends_on()
    fields["tool_evidence"] = reader.tool_evidence()
    fields["trigger"] = reader.trigger()
    fields["metadata"] = read_mapping(form.metadata, base.metadata, reader.add_error, "metadata")
    fields["assets"] = read_files(form.assets, base.assets, reader.add_error)
    fields["expected_artifacts"] = read_artifacts(form.expected_artifacts, base.expected_artifacts, reader.add_error)
    if not fields["task_id"].strip():
        reader.add_error("task_id", "Enter an id for the task; it is used as its folder name.")
    return base.model_copy(update=fields), reader.errors


class _TaskReader:
    def __init__(self, form: TaskForm, base: TaskSpec) -> None:
        self.form = form
        self.base = base
        self.errors: dict[str, str] = {}
        self.uids = {row["key"]: uid_of_row(row["key"]) for row in (*form.intents, *form.checklist)}

    def add_error(self, input_name: str, message: str) -> None:
        self.errors.setdefault(input_name, message)

    def intents(self) -> tuple[HiddenIntent, ...]:
        stored = {intent.uid: intent for intent in self.base.intents}
        result = []
        for row in self.form.intents:
            old = stored.get(self.uids[row["key"]])
            if old is None and not row["content"].strip() and not row["from"]:
                continue
            values: dict[str, Any] = {
                "content": preserve(old.content if old else "", row["content"]),
                "scope": _one_of(row["scope"], ("session_local", "persistent")),
                "initial_status": _one_of(row["initial_status"], ("not_provided", "provided")),
                "recoverable_from": tuple(
                    Recovery(kind=source["kind"], ref=source["ref"], note=source["note"])
                    for source in row["from"]
                    if source["kind"] in ("profile", "session", "file", "tool", "memory", "question")
                ),
            }
            result.append(old.model_copy(update=values) if old else HiddenIntent(uid=self.uids[row["key"]], **values))
        return tuple(result)

    def checklist(self) -> tuple[ChecklistItem, ...]:
        stored = {item.uid: item for item in self.base.checklist}
        result = []
        for row in self.form.checklist:
            old = stored.get(self.uids[row["key"]])
            if old is None and not row["criterion"].strip() and row["grader"] != "rule":
                continue
            same_weight = old and item_row(old)["weight"] == row["weight"]
            values: dict[str, Any] = {
                "criterion": preserve(old.criterion if old else "", row["criterion"]),
                "weight": old.weight if old and same_weight else self._weight(row),
                "grader": "rule" if row["grader"] == "rule" else "rubric",
                "rule": self._rule(row, old.rule if old else None),
                "evidence": read_lines(old.evidence if old else (), row["evidence"]),
                "follows_from": tuple(self.uids[key] for key in row["follows_from"] if key in self.uids),
            }
            result.append(old.model_copy(update=values) if old else ChecklistItem(uid=self.uids[row["key"]], **values))
        return tuple(result)

    def _weight(self, row: dict[str, Any]) -> float:
        input_name = f"checklist.{row['key']}.weight"
        try:
            weight = float(row["weight"].strip().replace(",", ".") or 1)
        except ValueError:
            weight = 0
        if not 0 < weight < float("inf"):
            self.add_error(input_name, "Enter a weight greater than 0.")
            return 1.0
        return weight

    def _rule(self, row: dict[str, Any], old: ExactCheck | None) -> ExactCheck | None:
        if row["grader"] != "rule" or (old and not row["rule_kind"]):  # brief rows have no rule inputs
            return old
        kind = cast(RuleKind, _one_of(row["rule_kind"], ("file_contains", *get_args(RuleKind))))
        app, _, table = row["rule_record"].partition(".") if kind in ON_RECORDS else (row["rule_app"], "", "")
        arguments: dict[str, Any] = {}
        containing: dict[str, str] = {}
        if kind == "tool_called" or kind in ON_RECORDS:
            try:
                arguments, containing = read_values(row["rule_arguments"])
                if kind in ON_RECORDS:
                    check_fields((*arguments, *containing), app, table)
            except ValuesError as error:
                self.add_error(f"checklist.{row['key']}.rule_arguments", str(error))
        return ExactCheck(
            kind=kind,
            path=row["rule_path"],
            text=preserve(old.text if old else "", row["rule_text"]),
            tool=row["rule_tool"],
            arguments=arguments,
            containing=containing,
            app=app if kind in ON_RECORDS or kind == "nothing_else_changed" else "",
            table=table,
        )

    def depends_on(self) -> tuple[Dependency, ...]:
        stored = {f"d{number}": dependency for number, dependency in enumerate(self.base.depends_on)}
        result = []
        for row in self.form.depends_on:
            old = stored.get(row["key"])
            if row["task_id"]:
                carries = preserve(old.carries_over if old else "", row["carries_over"])
                result.append(Dependency(task_id=row["task_id"], carries_over=carries))
        return tuple(result)

    def tool_evidence(self) -> tuple[ToolEvidence, ...]:
        stored = keyed("e", self.base.tool_evidence, lambda evidence: evidence.tool)
        result = []
        for row in self.form.tool_evidence:
            old = stored.get(row["key"], ToolEvidence(tool=""))
            if not row["tool"].strip() and not row["call"].strip() and not row["result"].strip():
                continue
            values = {
                "tool": preserve(old.tool, row["tool"], one_line=True),
                "call": read_lines(old.call, row["call"]),
                "result": read_lines(old.result, row["result"]),
            }
            if not row["tool"].strip():
                self.add_error(f"tool_evidence.{row['key']}.tool", "Enter the tool whose fields are shown.")
            elif not values["call"] and not values["result"]:
                self.add_error(f"tool_evidence.{row['key']}.call", "Enter at least one field of its calls or results.")
            result.append(old.model_copy(update=values))
        return tuple(result)

    def trigger(self) -> Trigger:
        values = self.form.values
        stored = self.base.trigger.payload
        payload = read_payload(values[SWITCH], values["payload_raw"], self.form.payload, stored, self.add_error)
        kind = _one_of(values["trigger"], ("user_message", "webhook", "heartbeat", "feed", "file_drop"))
        return Trigger(kind=cast(TriggerKind, kind), payload=payload)


def _one_of(value: str, known: tuple[str, ...]) -> str:
    return value if value in known else known[0]
