"""The task editor's sheet: a TaskSpec laid out as the strings a page shows, and read back from what it sends."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field, replace
from typing import Any, cast

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
from studio.forms.expected_artifacts import artifact_rows, posted_artifacts, read_artifacts
from studio.forms.files import file_rows, keyed, posted_files, read_files
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
    "evidence",
)


class TaskFormError(Exception):
    """What has to be corrected before the sheet says a task: sentences by the name of the input they stand beside."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = errors


@dataclass
class TaskForm:
    """Everything the editor shows, as strings."""

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
        """The rows of expected artifacts that have a reference."""
        return [row for row in self.expected_artifacts if row["stored"] or row["text"] is not None]

    @property
    def files(self) -> list[dict[str, Any]]:
        """Rows that hold a file, or can: of the workspace and of references."""
        return [*self.assets, *self.expected_artifacts]


def task_form(spec: TaskSpec, tokens: FileTokens) -> TaskForm:
    """The sheet of a stored task."""
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
                    {"key": f"r{number}", "kind": place.kind, "ref": place.ref, "note": place.note}
                    for number, place in enumerate(intent.recoverable_from)
                ],
            }
            for intent in spec.intents
        ],
        checklist=[_item_row(item) for item in spec.checklist],
        depends_on=[
            {"key": f"d{number}", "task_id": need.task_id, "carries_over": need.carries_over}
            for number, need in enumerate(spec.depends_on)
        ],
        tool_evidence=[
            {"key": key, "tool": one.tool, "call": "\n".join(one.call), "result": "\n".join(one.result)}
            for key, one in keyed("e", spec.tool_evidence, lambda one: one.tool).items()
        ],
        payload=mapping_rows(spec.trigger.payload),
        metadata=mapping_rows(spec.metadata),
        assets=file_rows(spec.assets, tokens),
        expected_artifacts=artifact_rows(spec.expected_artifacts, tokens),
    )


def posted_task_form(posted: Posted, base: TaskSpec, tokens: FileTokens) -> TaskForm:
    """The sheet as someone left it."""
    intents = posted.rows("intents", INTENT)
    for row in intents:
        row["from"] = posted.rows(f"intents.{row['key']}.from", RECOVERY)
    checklist = posted.rows("checklist", ITEM)
    for row in checklist:
        row |= _followed(posted, f"checklist.{row['key']}")
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


def _followed(posted: Posted, item: str) -> dict[str, Any]:
    """What an item follows from and is seen in: as boxes and lines, or as the one field that stands for them in a row
    of a long list that nobody opened: keys in its first line, then the evidence."""
    brief = f"{item}.brief" in posted.data
    if not brief:
        return {"follows_from": posted.values(f"{item}.follows_from"), "brief": False}
    keys, _, evidence = posted.text(f"{item}.brief").partition("\n")
    return {"follows_from": keys.split(), "evidence": evidence, "brief": True}


def spec_of(sheet: TaskForm, base: TaskSpec) -> TaskSpec:
    """The task the sheet says, on top of what is stored: what the page does not show stays. Raises TaskFormError."""
    spec, errors = read_task_form(sheet, base)
    if errors:
        raise TaskFormError(errors)
    return spec


def read_task_form(sheet: TaskForm, base: TaskSpec) -> tuple[TaskSpec, dict[str, str]]:
    """The task as far as the sheet can be read, and what cannot, for those who check while somebody is typing."""
    reading = _Reading(sheet, base)
    values = sheet.values
    fields: dict[str, Any] = {name: preserve(getattr(base, name), values[name], one_line=True) for name in ONE_LINE}
    fields |= {name: preserve(getattr(base, name), values[name]) for name in AREAS}
    fields |= {name: read_lines(getattr(base, name), values[name]) for name in LINES}
    fields |= {name: read_picks(getattr(base, name), values[name]) for name in PICKS}
    fields["intents"] = reading.intents()
    fields["checklist"] = reading.checklist()
    fields["depends_on"] = reading.depends_on()
    fields["tool_evidence"] = reading.tool_evidence()
    fields["trigger"] = reading.trigger()
    fields["metadata"] = read_mapping(sheet.metadata, base.metadata, reading.complain, "metadata")
    fields["assets"] = read_files(sheet.assets, base.assets, reading.complain, "assets")
    fields["expected_artifacts"] = read_artifacts(sheet.expected_artifacts, base.expected_artifacts, reading.complain)
    if not fields["task_id"].strip():
        reading.complain("task_id", "Enter an id for the task; it is used as its folder name.")
    return base.model_copy(update=fields), reading.errors


class _Reading:
    def __init__(self, sheet: TaskForm, base: TaskSpec) -> None:
        self.sheet = sheet
        self.base = base
        self.errors: dict[str, str] = {}
        self.uids = {row["key"]: uid_of_row(row["key"]) for row in (*sheet.intents, *sheet.checklist)}

    def complain(self, place: str, sentence: str) -> None:
        self.errors.setdefault(place, sentence)

    def intents(self) -> tuple[HiddenIntent, ...]:
        stored = {intent.uid: intent for intent in self.base.intents}
        result = []
        for row in self.sheet.intents:
            old = stored.get(self.uids[row["key"]])
            if old is None and not row["content"].strip() and not row["from"]:
                continue
            values: dict[str, Any] = {
                "content": preserve(old.content if old else "", row["content"]),
                "scope": _one_of(row["scope"], ("session_local", "persistent")),
                "initial_status": _one_of(row["initial_status"], ("not_provided", "provided")),
                "recoverable_from": tuple(
                    Recovery(kind=place["kind"], ref=place["ref"], note=place["note"])
                    for place in row["from"]
                    if place["kind"] in ("profile", "session", "file", "tool", "memory", "question")
                ),
            }
            result.append(old.model_copy(update=values) if old else HiddenIntent(uid=self.uids[row["key"]], **values))
        return tuple(result)

    def checklist(self) -> tuple[ChecklistItem, ...]:
        stored = {item.uid: item for item in self.base.checklist}
        result = []
        for row in self.sheet.checklist:
            old = stored.get(self.uids[row["key"]])
            if old is None and not row["criterion"].strip() and row["grader"] != "rule":
                continue
            shown = _item_row(old) if old else None
            rule = self._rule(row, old.rule if old else None)
            values: dict[str, Any] = {
                "criterion": preserve(old.criterion if old else "", row["criterion"]),
                "weight": old.weight if old and shown and shown["weight"] == row["weight"] else self._weight(row),
                "grader": "rule" if row["grader"] == "rule" else "rubric",
                "rule": rule,
                "evidence": read_lines(old.evidence if old else (), row["evidence"]),
                "follows_from": tuple(self.uids[key] for key in row["follows_from"] if key in self.uids),
            }
            result.append(old.model_copy(update=values) if old else ChecklistItem(uid=self.uids[row["key"]], **values))
        return tuple(result)

    def _weight(self, row: dict[str, Any]) -> float:
        place = f"checklist.{row['key']}.weight"
        try:
            weight = float(row["weight"].strip().replace(",", ".") or 1)
        except ValueError:
            weight = 0
        if not 0 < weight < float("inf"):
            self.complain(place, "Enter a weight greater than 0.")
            return 1.0
        return weight

    def _rule(self, row: dict[str, Any], old: ExactCheck | None) -> ExactCheck | None:
        if row["grader"] != "rule" or (old and not row["rule_kind"]):  # a long list brings a rule's fields when asked
            return old
        place = f"checklist.{row['key']}.rule_arguments"
        try:
            arguments = json.loads(row["rule_arguments"] or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            self.complain(place, 'Write the arguments as {"name": "value"}.')
            arguments = {}
        kind = _one_of(
            row["rule_kind"],
            ("file_contains", "file_exists", "file_lacks", "reply_contains", "reply_lacks", "tool_called"),
        )
        return ExactCheck(
            kind=cast(RuleKind, kind),
            path=row["rule_path"],
            text=preserve(old.text if old else "", row["rule_text"]),
            tool=row["rule_tool"],
            arguments=arguments,
        )

    def depends_on(self) -> tuple[Dependency, ...]:
        stored = {f"d{number}": need for number, need in enumerate(self.base.depends_on)}
        result = []
        for row in self.sheet.depends_on:
            old = stored.get(row["key"])
            if row["task_id"]:
                carries = preserve(old.carries_over if old else "", row["carries_over"])
                result.append(Dependency(task_id=row["task_id"], carries_over=carries))
        return tuple(result)

    def tool_evidence(self) -> tuple[ToolEvidence, ...]:
        stored = keyed("e", self.base.tool_evidence, lambda one: one.tool)
        result = []
        for row in self.sheet.tool_evidence:
            old = stored.get(row["key"], ToolEvidence(tool=""))
            if not row["tool"].strip() and not row["call"].strip() and not row["result"].strip():
                continue
            values = {
                "tool": preserve(old.tool, row["tool"], one_line=True),
                "call": read_lines(old.call, row["call"]),
                "result": read_lines(old.result, row["result"]),
            }
            if not row["tool"].strip():
                self.complain(f"tool_evidence.{row['key']}.tool", "Enter the tool whose fields are shown.")
            elif not values["call"] and not values["result"]:
                self.complain(f"tool_evidence.{row['key']}.call", "Enter at least one field of its calls or results.")
            result.append(old.model_copy(update=values))
        return tuple(result)

    def trigger(self) -> Trigger:
        values = self.sheet.values
        stored = self.base.trigger.payload
        payload = read_payload(values[SWITCH], values["payload_raw"], self.sheet.payload, stored, self.complain)
        kind = _one_of(values["trigger"], ("user_message", "webhook", "heartbeat", "feed", "file_drop"))
        return Trigger(kind=cast(TriggerKind, kind), payload=payload)


def _item_row(item: ChecklistItem) -> dict[str, Any]:
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
        "rule_arguments": json.dumps(rule.arguments, ensure_ascii=False) if rule.arguments else "",
        "evidence": "\n".join(item.evidence),
        "follows_from": list(item.follows_from),
    }


def _one_of(value: str, known: tuple[str, ...]) -> str:
    return value if value in known else known[0]


def uid_of_row(key: str) -> str:
    """A row that is new on the page has the same id each time the page is sent: it is kept more than once."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, key)) if key.startswith(NEW) else key


def with_row_keys_of(sheet: TaskForm, sent: TaskForm) -> TaskForm:
    """The sheet with its new rows called as the page that ``sent`` the other one calls them."""
    names = {uid_of_row(row["key"]): row["key"] for row in (*sent.intents, *sent.checklist)}
    for row in (*sheet.intents, *sheet.checklist):
        row["key"] = names.get(row["key"], row["key"])
    for row in sheet.checklist:
        row["follows_from"] = [names.get(key, key) for key in row["follows_from"]]
    artifacts = {row["path"].strip(): row["key"] for row in sent.expected_artifacts if row["key"].startswith(NEW)}
    for row in sheet.expected_artifacts:
        row["key"] = artifacts.get(row["path"], row["key"])
    return sheet


def without_empty_rows(sheet: TaskForm, spec: TaskSpec) -> TaskForm:
    """The sheet without rows that say nothing yet: its rows are the spec's, place by place."""
    intents, items = {one.uid for one in spec.intents}, {one.uid for one in spec.checklist}
    return replace(
        sheet,
        intents=[row for row in sheet.intents if uid_of_row(row["key"]) in intents],
        checklist=[row for row in sheet.checklist if uid_of_row(row["key"]) in items],
        assets=sorted(sheet.assets, key=lambda row: row["path"].strip()),
        expected_artifacts=[row for row in sheet.expected_artifacts if row["path"].strip()],
    )
