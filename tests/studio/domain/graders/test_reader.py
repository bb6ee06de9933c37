"""Static reading of grader scripts, and the histories generated from it."""

from __future__ import annotations

import time

import pytest

from studio.domain.graders import generate_histories, read_script

SCRIPT = '''
"""Was the sheet mailed?"""
MAIL = {"gmail__send_email", "mcp_appworld_gmail__send_email"}
NEEDED = ("boiler", "key")


def has_any(text, words):
    return any(word in text for word in words)


def calls(history, name):
    return [item for item in history if item.get("tool_name") == name]


def score(tools_history):
    body = subject = ""
    for item in tools_history:
        if str(item.get("result")).startswith("Error:"):
            continue
        call = item.get("call") or {}
        if item["tool_name"] in MAIL:
            body += call.get("body", "").lower()
            subject = call["subject"]
    noted = calls(tools_history, "simple_note__create_note")
    return {
        "subject": int(subject == "The boiler"),
        "words": int(all(word in body for word in NEEDED)),
        "when": int(has_any(body, ["friday", "saturday"]) and "urgent" not in body),
        "who": int("kurt" in body or "caretaker" in body),
        "noted": int(bool(noted)),
    }
'''


def test_tools_arguments_and_demands_are_read() -> None:
    reading = read_script(SCRIPT)

    assert reading.scores and not reading.problem
    assert {test.any_of for test in reading.tools} == {
        ("gmail__send_email", "mcp_appworld_gmail__send_email"),
        ("simple_note__create_note",),
    }
    assert {"body", "subject"} <= set(reading.arguments)
    assert {demand.any_of for demand in reading.demands} == {
        ("The boiler",),
        ("boiler",),
        ("key",),
        ("friday", "saturday"),
        ("kurt", "caretaker"),
    }
    assert reading.exact == {"subject": ("The boiler",)}


@pytest.mark.parametrize(
    ("source", "line"),
    [("def score(h):\n    return {'a' 0}", 2), ("def score(:\n  pass", 1), ("def score(h):\nreturn 1", 2)],
)
def test_syntax_error_is_reported_with_its_line(source: str, line: int) -> None:
    reading = read_script(source)

    assert reading.line == line
    assert reading.line_text == source.splitlines()[line - 1].strip()


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\0",
        "\ud800",
        "(" * 5_000,
        "x=" + "-" * 50_000 + "1",
        "a" * 300_000,
        "x0='aaaaaaaaaa'\n" + "\n".join(f"x{n + 1}=x{n}+x{n}" for n in range(500)),
        "def score(h):\n" + "".join("  " * (n + 1) + f"for v{n} in ('a','b'):\n" for n in range(18)) + "  " * 20 + "h",
        "all(" * 60 + "a in b" + " for a in 'abcdefgh')" * 60,
        "import os\nos.system('true')\nraise SystemExit",
    ],
    ids=range(10),
)
def test_hostile_scripts_are_read_quickly_and_never_raise(source: str) -> None:
    started = time.process_time()

    reading = read_script(source)
    histories = generate_histories(reading)

    assert time.process_time() - started < 2
    assert len(histories) < 100 and sum(len(history.calls) for history in histories) < 20_000


def test_histories_begin_empty_and_try_each_text_alone() -> None:
    histories = generate_histories(read_script(SCRIPT))

    assert (histories[0].kind, histories[0].calls) == ("nothing", ())
    assert any(
        history.kind == "word" and {str(call["call"]["body"]) for call in history.calls} == {"kurt"}
        for history in histories
    )
    assert {"draft", "stranger"} & {history.kind for history in histories} == {"stranger"}
