"""Reading the task editor's form into a TaskSpec."""

from __future__ import annotations

from typing import Any, cast, get_args

from studio.domain.rule_values import ON_RECORDS, ValuesError, check_fields, read_values
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
from studio.forms.expected_artifacts import read_artifacts
from studio.forms.files import keyed, read_files
from studio.forms.post_data import preserve, read_lines, read_mapping, read_picks
from studio.forms.signals import SWITCH, read_payload
from studio.forms.tasks import AREAS, LINES, ONE_LINE, PICKS, TaskForm, item_row, uid_of_row


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
    fields["assets"] = read_files(form.assets, base.assets, reader.add_error, "assets")
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
