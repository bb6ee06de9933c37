"""Plausible calls: what an agent might do in the apps, one call after the other."""

from __future__ import annotations

import json
from typing import Any

from evaluation.tools import World
from evaluation.tools.plausible_calls import Wanted, plausible_calls, wanted_of, wanted_of_script
from studio.domain.graders import read_script
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec

ME = {"username": "ada@example.com", "password": "r4[in"}
SIGN_IN = ("todoist", "ada@example.com", "r4[in")
SCRIPT = """
def score(tools_history):
    keys = {"board": 0, "item": 0, "cleared": 0}
    project = None
    for item in tools_history:
        name, call = item["tool_name"], item["call"]
        if name == "mcp_appworld_todoist__create_task" and call.get("project_id") == project != None:
            keys["item"] = int("call the court" in (call.get("title", "") + call.get("description", "")).lower())
        if name == "mcp_appworld_todoist__delete_project" and call.get("project_id") == project != None:
            keys["cleared"] = 1
        if name == "mcp_appworld_todoist__create_project" and call.get("name") == "Chase":
            project = item["result"]["response"]["project_id"]
            keys["board"] = 1
    return keys
"""


def world(**apps: Any) -> World:
    return World.from_data({app: {"accounts": [ME], **tables} for app, tables in apps.items()})


def names(calls: list[Any]) -> list[tuple[str, int]]:
    return [(call.name, call.status) for call in calls]


def test_records_are_made_before_they_are_used_and_taken_away_last():
    calls = plausible_calls(wanted_of_script(read_script(SCRIPT)), [SIGN_IN], world(todoist={}))

    assert names(calls) == [
        ("todoist__login", 200),
        ("todoist__create_project", 200),
        ("todoist__create_task", 200),
        ("todoist__delete_project", 200),
    ]
    project = calls[1].answer.response["project_id"]
    assert [call.arguments["project_id"] for call in calls[2:]] == [project, project]


def test_what_a_script_names_first_need_not_come_first():
    wanted = Wanted(("simple_note__delete_note", "simple_note__update_note", "simple_note__create_note"))

    calls = plausible_calls(wanted, [("simple_note", *ME.values())], world(simple_note={}))

    assert names(calls)[1:] == [
        ("simple_note__create_note", 200),
        ("simple_note__update_note", 200),
        ("simple_note__delete_note", 200),
    ]


def test_they_earn_keys_that_join_answers_and_later_calls():
    calls = plausible_calls(wanted_of_script(read_script(SCRIPT)), [SIGN_IN], world(todoist={}))
    module: dict[str, Any] = {}
    exec(SCRIPT, module)

    history = json.loads(json.dumps([call.for_graders() for call in calls]))

    assert module["score"](history) == {"board": 1, "item": 1, "cleared": 1}


def test_each_value_that_a_grader_compares_with_is_tried():
    wanted = Wanted(("amazon__show_product",), {"product_id": [636, 7]})
    products = {"products": [{"product_id": 636, "name": "Chair", "price": 9.0}]}

    calls = plausible_calls(wanted, [("amazon", *ME.values())], world(amazon=products))

    assert names(calls)[1:] == [("amazon__show_product", 200), ("amazon__show_product", 404)]
    assert [dict(call.wanted) for call in calls[1:]] == [{"product_id": 636}, {"product_id": 7}]


def test_what_a_call_needs_is_looked_for_and_made_where_there_is_none():
    wanted = Wanted(("gmail__send_email_from_draft", "todoist__create_sub_task"))

    calls = plausible_calls(wanted, [SIGN_IN, ("gmail", *ME.values())], world(todoist={}, gmail={}))

    made = [name for name, status in names(calls) if status == 200]
    assert {"gmail__create_draft", "gmail__send_email_from_draft", "todoist__create_sub_task"} <= set(made)


def test_without_a_sign_in_every_call_is_refused():
    assert names(plausible_calls(Wanted(("gmail__show_inbox_threads",)), [], world(gmail={}))) == [
        ("gmail__show_inbox_threads", 401)
    ]


def test_exact_checks_say_what_is_wanted_too():
    rule = ExactCheck(kind="tool_called", tool="gmail__send_email", arguments={"subject": "Rota"})
    task = TaskSpec(task_id="t", checklist=(ChecklistItem(uid="a", criterion="Sent.", grader="rule", rule=rule),))

    [_, sent] = plausible_calls(wanted_of(task, None), [("gmail", *ME.values())], world(gmail={}))

    assert (sent.name, sent.status, sent.arguments["subject"]) == ("gmail__send_email", 200, "Rota")


def test_the_same_world_answers_the_same():
    wanted = wanted_of_script(read_script(SCRIPT))

    first, second = (plausible_calls(wanted, [SIGN_IN], world(todoist={})) for _ in range(2))

    assert first == second
