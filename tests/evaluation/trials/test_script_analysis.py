"""Scripts run on generated histories."""

from __future__ import annotations

import time

import pytest

from evaluation.sandbox import why_unavailable
from evaluation.trials.script_analysis import analyse_script


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    if reason := why_unavailable():
        pytest.skip(reason)


SCRIPT = """
def score(tools_history):
    met = {"always": 1, "mailed": 0, "mail_sent_to_kurt": 0, "mail_sent": 0, "never": 0}
    for item in tools_history:
        name, call = item["tool_name"], item["call"]
        if name == "gmail__send_email":
            met["mailed"] = 1
            if "kurt@haus.example" in call.get("recipients", ""):
                met["mail_sent_to_kurt"] = 1
        if name in ("gmail__send_email", "gmail__create_draft"):
            met["mail_sent"] = 1
        if name == "gmail__send_email" and name == "gmail__create_draft":
            met["never"] = 1
    return met
"""


@pytest.mark.slow
def test_keys_are_classified_by_what_earns_them() -> None:
    report = analyse_script(SCRIPT)

    assert report.keys == ("always", "mailed", "mail_sent_to_kurt", "mail_sent", "never")
    assert report.always == ("always",)
    assert report.never == ("never",)
    assert report.by_draft == ("always", "mail_sent")
    assert report.by_anyone == ("always", "mailed", "mail_sent")
    assert not report.problem and not report.failed and report.tried > 5


CHASE = """
def score(tools_history):
    met, project = {"kept_in_it": 0, "never": 0}, 0
    for item in tools_history:
        name, call = item["tool_name"], item["call"]
        if name.endswith("todoist__create_task") and project and call.get("project_id") == project:
            met["kept_in_it"] = 1
        if name.endswith("todoist__create_project"):
            project = item["result"]["response"]["project_id"]
        if name.endswith("todoist__create_project") and name.endswith("todoist__create_task"):
            met["never"] = 1
    return met
"""


@pytest.mark.slow
def test_a_key_that_only_answers_of_the_apps_can_earn_is_not_called_unearnable() -> None:
    assert analyse_script(CHASE).never == ("never",)


@pytest.mark.parametrize(
    ("source", "problem", "line"),
    [
        ("def score(h):\n    return h[0]", "IndexError", 2),
        ("def score(h):\n    return {}", "no keys", None),
        ("def score(h):\n    return {'a': 2}", "not 0 or 1", None),
        ("import os\nos._exit(0)", "without an answer", None),
        ("def score(h):\n    return {'a' 0}", "SyntaxError", 2),
        ("def score(h):\n    open('/usr/lib/x', 'w')", "OSError", 2),
    ],
)
def test_script_without_keys_is_reported_with_its_line(source: str, problem: str, line: int | None) -> None:
    report = analyse_script(source)

    assert report.keys is None
    assert problem in report.problem
    assert report.line == line
    assert (report.always, report.never) == ((), ())


def test_endless_script_is_abandoned_without_findings_on_its_keys() -> None:
    started = time.monotonic()

    report = analyse_script("def score(h):\n    while h:\n        pass\n    return {'a': 0}")

    assert time.monotonic() - started < 20
    assert report.keys == ("a",)
    assert "did not end" in report.failed
    assert (report.always, report.never) == ((), ())


def test_forking_script_gives_no_keys() -> None:
    assert analyse_script("import os\ndef score(h):\n    while True:\n        os.fork()").keys is None


@pytest.mark.slow
def test_keys_earned_by_files_are_not_said_to_be_out_of_reach() -> None:
    source = """
from pathlib import Path

def score(tools_history):
    config = Path("config/nanobot.yaml")
    return {"made": config.exists()}
"""

    assert analyse_script(source).never == ()
