from __future__ import annotations

import pytest

from evaluation.grading.items import items_of
from evaluation.grading.rule import RuleError, RuleEvidence, check_rule
from evaluation.protocol.participants import ToolRecord
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec

TASK = TaskSpec(
    task_id="t",
    checklist=(
        ChecklistItem(uid="a", criterion="First"),
        ChecklistItem(uid="b", criterion="  "),
        ChecklistItem(
            uid="c", criterion="Second", weight=2, grader="rule", rule=ExactCheck(kind="file_exists", path="x")
        ),
    ),
    grader_script="data/p/scripts/check.py",
)


def test_script_keys_follow_the_checklist_with_weight_one():
    items = items_of(TASK, ["sent", "titled"])

    assert [(item.index, item.grader, item.criterion, item.weight) for item in items] == [
        (1, "rubric", "First", 1.0),
        (2, "rule", "Second", 2.0),
        (3, "rule", "[tools] sent", 1.0),
        (4, "rule", "[tools] titled", 1.0),
    ]


def test_script_without_keys_is_one_item():
    assert [item.criterion for item in items_of(TASK)] == ["First", "Second", "[tools] check.py"]


CALLS = [
    ToolRecord("mcp_appworld_gmail__send", {"to": "x@y", "n": 1}, "{}"),
    ToolRecord("delete", {}, "no", ok=False),
]
MATERIAL = RuleEvidence("The Fee is\n 40 euros.", CALLS, {"out/a.md": b"Total:  40", "raw": b"\xff40"}.get)


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        (ExactCheck(kind="file_exists", path="out/a.md"), True),
        (ExactCheck(kind="file_exists", path="b.md"), False),
        (ExactCheck(kind="file_contains", path="out/a.md", text="total: 40"), True),
        (ExactCheck(kind="file_contains", path="raw", text="40"), True),
        (ExactCheck(kind="file_contains", path="b.md", text="x"), False),
        (ExactCheck(kind="file_lacks", path="out/a.md", text="41"), True),
        (ExactCheck(kind="file_lacks", path="b.md", text="41"), False),
        (ExactCheck(kind="reply_contains", text="fee is 40"), True),
        (ExactCheck(kind="reply_lacks", text="fee is 40"), False),
        (ExactCheck(kind="tool_called", tool="gmail__send", arguments={"to": "x@y"}), True),
        (ExactCheck(kind="tool_called", tool="gmail__send", arguments={"to": "z"}), False),
        (ExactCheck(kind="tool_called", tool="gmail__send", arguments={"n": True}), False),
        (ExactCheck(kind="tool_called", tool="gmail__send", arguments={"bcc": None}), False),
        (ExactCheck(kind="tool_called", tool="delete"), False),
    ],
)
def test_rules_are_exact(rule: ExactCheck, met: bool):
    assert check_rule(rule, MATERIAL).met is met


@pytest.mark.parametrize(
    "rule",
    [
        ExactCheck(kind="file_exists", path=" "),
        ExactCheck(kind="reply_lacks", text=" "),
        ExactCheck(kind="tool_called", tool=" "),
        ExactCheck(kind="record_exists", app="gmail"),
        ExactCheck(kind="record_gone", table="emails"),
    ],
)
def test_empty_rule_raises(rule: ExactCheck):
    with pytest.raises(RuleError):
        check_rule(rule, MATERIAL)
