"""A grader script run once for its author."""

from __future__ import annotations

import pytest

from evaluation.sandbox import why_unavailable
from evaluation.trials.trial import try_script

CALLS = [{"tool_name": "write_file", "call": {"path": "a.md"}, "result": None}]


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    if message := why_unavailable():
        pytest.skip(message)


def test_trial_shows_keys_output_and_time() -> None:
    trial = try_script(
        "import sys\ndef score(h):\n    print('seen', len(h))\n    print('oh', file=sys.stderr)\n"
        "    return {'called': int(bool(h)), 'twice': len(h) > 1}\n",
        CALLS,
    )

    assert trial.values == {"called": 1, "twice": 0}
    assert (trial.problem, trial.stdout.strip()) == ("", "seen 1")
    assert trial.stderr.strip() == "oh"
    assert 0 <= trial.milliseconds < 5_000


def test_trial_shows_the_error_with_its_lines() -> None:
    trial = try_script("def score(h):\n    return inner(h)\n\ndef inner(h):\n    return h[9]\n", CALLS)

    assert trial.problem == "IndexError: list index out of range"
    assert [(frame.line, frame.function, frame.text) for frame in trial.frames] == [
        (2, "score", "return inner(h)"),
        (5, "inner", "return h[9]"),
    ]
    assert trial.line == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def score(h)\n    return {}", "SyntaxError"),
        ("x = 1", "KeyError: 'score'"),
        ("def score(h):\n    return {'a': 7}", "not 0 or 1"),
        ("def score(h):\n    return {}", "no keys"),
        ("def score(h):\n    while True: pass", "It was"),
        ("def score(h):\n    print('x' * 10**6)", "printed more"),
        ("import os\nos._exit(3)", "status 3"),
        ("import os\ndef score(h):\n    while True: os.fork()", ""),
        ("def score(h):\n    x = 'a' * 10**10", "Memory"),
        ("def score(h):\n    open('/etc/x', 'w')", "Error"),
        ("import socket\nsocket.create_connection(('1.1.1.1', 80), 1)", "Error"),
        ("import sys\nprint(sys.stdin, '\\x00\\x1b[2J', '<script>')\nraise SystemExit('\\ud800')", "SystemExit"),
    ],
)
def test_hostile_scripts_end_and_earn_nothing(source: str, message: str) -> None:
    trial = try_script(source, CALLS)

    assert trial.values == {}
    assert trial.problem and message in trial.problem
    assert "\0" not in trial.stdout and "\x1b" not in trial.stdout
