"""Rules on calls and records of apps: decided here, and by the script that the pack holds, alike."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from evaluation.grading.rule import RuleEvidence, check_rule
from evaluation.protocol.history import tools_history
from evaluation.protocol.participants import ToolRecord
from evaluation.tools import Toolbox, Workspace, World, toolbox_for
from evaluation.tools.apps.catalog import APPS
from studio.domain.app_rules import find_text
from studio.domain.rule_scripts import rule_script
from studio.domain.task import ExactCheck, TaskSpec
from studio.domain.tool_names import APP_PREFIX
from tests.evaluation.builders import rule, task

ME = {"username": "ada@example.com", "password": "secret", "first_name": "Ada", "last_name": "L"}
DATA: dict[str, Any] = {
    "simple_note": {"accounts": [ME], "notes": [{"note_id": 1, "owner": ME["username"], "title": "Packing list"}]},
    "gmail": {"accounts": [ME, {"username": "li@example.com"}]},
    "todoist": {"accounts": [ME]},
}


class Assistant:
    def __init__(self, tmp_path) -> None:
        names = [APP_PREFIX + api for app in DATA for api in APPS[app].apis]
        self.toolbox: Toolbox = toolbox_for(Workspace(tmp_path), names, World.from_data(DATA))
        self.records: list[ToolRecord] = []
        self.tokens = {app: self.call(f"{app}__login", **login)["access_token"] for app in DATA}

    def call(self, name: str, /, **arguments: Any) -> Any:
        record = self.toolbox.call(APP_PREFIX + name, json.dumps(arguments))
        self.records.append(record)
        return json.loads(record.result)["response"]

    def act(self, name: str, /, **arguments: Any) -> Any:
        return self.call(name, access_token=self.tokens[name.partition("__")[0]], **arguments)


login = {"username": ME["username"], "password": ME["password"]}
sent = partial(ExactCheck, kind="tool_called", tool="gmail__send_email")
note = partial(ExactCheck, app="simple_note", table="notes")
nothing_else = partial(ExactCheck, kind="nothing_else_changed")
MAIL_TO_LI = {"email_addresses": ["li@example.com"]}


def work(assistant: Assistant) -> None:
    """A mail, a note, a note changed, and a project that comes and goes."""
    assistant.act("gmail__send_email", **MAIL_TO_LI, subject="Plan for May", body="Dear Li,\nfriday   it is.")
    assistant.act("simple_note__create_note", title="Weekly plan", content="Monday: fees")
    assistant.act("simple_note__update_note", note_id=1, pinned=True)
    project = assistant.act("todoist__create_project", name="Temporary")["project_id"]
    assistant.act("todoist__delete_project", project_id=project)
    assistant.act("simple_note__delete_note", note_id=99)  # refused


def verdicts(assistant: Assistant, checks: list[ExactCheck]) -> list[bool]:
    evidence = RuleEvidence("", assistant.records, lambda path: None, assistant.records, checks)
    return [check_rule(check, evidence).met for check in checks]


def by_script(assistant: Assistant, checks: list[ExactCheck]) -> list[bool]:
    spec: TaskSpec = task("a", checklist=tuple(rule(f"Rule {n}", check) for n, check in enumerate(checks)))
    names: dict[str, Any] = {}
    exec(rule_script(spec), names)
    assert list(names["score"]([])) == [f"{n + 1} Rule {n}" for n in range(len(checks))]
    scores = names["score"](json.loads(json.dumps(tools_history(assistant.records))))
    return [value == 1 for value in scores.values()]


@pytest.mark.parametrize(
    ("check", "met"),
    [
        (sent(arguments=MAIL_TO_LI), True),
        (sent(arguments={"email_addresses": ["eve@example.com"]}), False),
        (sent(containing={"body": "Friday it is", "email_addresses": "LI@example"}), True),
        (sent(containing={"body": "Saturday"}), False),
        (note(kind="record_exists", arguments={"title": "Weekly plan"}, containing={"content": "fees"}), True),
        (note(kind="record_exists", arguments={"title": "Packing list", "pinned": True}), True),
        (note(kind="record_exists", arguments={"title": "Packing list", "pinned": False}), False),
        (note(kind="record_exists", arguments={"note_id": "1"}), True),  # numbers may be written as text
        (note(kind="record_gone", arguments={"title": "Weekly plan"}), False),
        (ExactCheck(kind="record_gone", app="todoist", table="projects", arguments={"name": "Temporary"}), True),
        (ExactCheck(kind="record_exists", app="todoist", table="projects", arguments={"name": "Temporary"}), False),
        (nothing_else(app="todoist"), True),
        (nothing_else(app="simple_note"), False),
        (nothing_else(), False),
    ],
)
def test_rule_and_its_script_decide_what_calls_did(tmp_path, check: ExactCheck, met: bool):
    assistant = Assistant(tmp_path)
    work(assistant)

    assert verdicts(assistant, [check]) == [met]
    assert by_script(assistant, [check]) == [met]


def test_nothing_else_was_changed_if_other_rules_ask_for_every_change(tmp_path):
    assistant = Assistant(tmp_path)
    work(assistant)
    assistant.act("gmail__show_inbox_threads")
    asked = [sent(arguments=MAIL_TO_LI), note(kind="record_exists", arguments={"title": "Weekly plan"})]
    pinned = note(kind="record_exists", arguments={"note_id": 1})

    assert verdicts(assistant, [*asked, nothing_else()])[-1] is False
    assert verdicts(assistant, [*asked, pinned, nothing_else()]) == [True] * 4
    assert by_script(assistant, [*asked, pinned, nothing_else()]) == [True] * 4


def test_an_idle_agent_changed_nothing_and_left_no_record(tmp_path):
    assistant = Assistant(tmp_path)
    checks = [nothing_else(), note(kind="record_exists", arguments={"title": "Packing list"}), sent()]

    assert verdicts(assistant, checks) == by_script(assistant, checks) == [True, False, False]


def test_script_meets_no_rule_on_records_where_a_harness_tells_no_changes(tmp_path):
    assistant = Assistant(tmp_path)
    work(assistant)
    checks = [sent(), nothing_else(app="todoist")]
    names: dict[str, Any] = {}
    exec(rule_script(task("a", checklist=tuple(rule("x", check) for check in checks))), names)
    bare = [{key: call[key] for key in ("tool_name", "call", "result")} for call in tools_history(assistant.records)]

    assert list(names["score"](bare).values()) == [1, 0]


def test_task_without_such_rules_has_no_script():
    assert rule_script(task("a", checklist=(rule("x", ExactCheck(kind="file_exists", path="a")),))) == ""


@pytest.mark.parametrize(
    ("wanted", "text", "occurs"),
    [
        ("RMB 150", "The fee is rmb  150.", True),
        ("RMB 150", "The fee is RMB 150.00.", True),
        ("RMB 150", "The fee is RMB 150,000.", False),
        ("C-2027-04", "C-2027-04,2027-04-15,open", True),
        ("150", "2027-04-15,150,open", True),
        ("RMB 150", "The fee is RMB 150.5.", False),
        ("RMB 150", "The fee is RMB 1500.", False),
        ("1500 euros", "1,500 euros", True),
        ("2.5 mg", "12.5 mg, then 2.5 mg", True),
        ("2.5 mg", "12.5 mg", False),
        ("1 2", "3 1 2", True),
        ("Straße 5", "STRASSE 5", True),
        ("no numbers", "No\nnumbers", True),
    ],
)
def test_a_text_is_found_with_its_numbers_as_numbers(wanted: str, text: str, occurs: bool) -> None:
    assert (find_text(wanted, text) is not None) == occurs
