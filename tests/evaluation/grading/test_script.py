"""Grader scripts, honest and hostile. None hurts more than its own turn, and each says what happened."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.grading import script
from evaluation.grading.script import GraderScriptError, GraderTurn, grader_keys, run_grader
from evaluation.sandbox import why_unavailable

HONEST = """
def score(tools_history):
    sent = [item for item in tools_history if item["tool_name"] == "gmail__send_email"]
    print("looking at", len(sent))
    right = [item for item in sent if "ana@example.org" in item["call"]["to"]]
    return {"email_sent": bool(sent), "to_the_right_person": int(bool(right))}
"""
SENT = [{"tool_name": "gmail__send_email", "call": {"to": ["ana@example.org"]}, "result": {"id": 1}}]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    if message := why_unavailable():
        pytest.skip(message)


def on_tools(body: str) -> str:
    """A script that keeps the contract without tool calls and does something else with them."""
    return "def score(h):\n    if not h:\n        return {'a': 0, 'b': 0}\n" + textwrap.indent(
        textwrap.dedent(body), "    "
    )


def test_every_turn_is_graded_with_its_own_history():
    run = run_grader(HONEST, [[], SENT, []])

    nothing = GraderTurn({"email_sent": 0, "to_the_right_person": 0})
    assert run.keys == ("email_sent", "to_the_right_person")
    assert run.turns == (nothing, GraderTurn({"email_sent": 1, "to_the_right_person": 1}), nothing)


def test_keys_keep_the_scripts_order_and_are_cached(monkeypatch):
    source = "def score(h): return {'z': 0, 'a': 1, 'm': False}"
    assert grader_keys(source) == ("z", "a", "m")

    monkeypatch.setattr(script, "run_python", None)

    assert grader_keys(source) == ("z", "a", "m")


def test_known_keys_save_a_call():
    assert run_grader(HONEST, [], keys=("x",)) == script.GraderRun(("x",), ())
    assert run_grader(HONEST, [SENT], keys=("email_sent",)).turns == (GraderTurn({"email_sent": 1}),)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def score(h): return {}", "returned no keys"),
        ("def score(h): return [1]", "returned list from score"),
        ("def score(h): return {1: 1}", "a key that is not a text"),
        ("def score(h): return {'a': 'yes'}", r"returned 'yes' \(str\) for 'a', not 0 or 1"),
        ("x = 1", "defines no function score"),
        ("def score(:", "SyntaxError in line 1"),
        ("import studio", "ModuleNotFoundError in line 1: No module named 'studio'"),
        ("\n\n1 / 0", "ZeroDivisionError in line 3: division by zero"),
        ("raise SystemExit('bye')", "SystemExit in line 1: bye"),
        ("import os; os._exit(0)", "ended its process without an answer"),
        ("import os; os.kill(os.getpid(), 9)", r"gave no keys: the process of the script was killed \(SIGKILL\)"),
        ("import os; os._exit(200)", "ended its process without an answer"),
        ("def score(h): return {str(i): 0 for i in range(10**5)}", "returned 100000 keys"),
        ("\0", "the script raised"),
    ],
)
def test_script_without_keys_raises_with_the_reason(source, message):
    with pytest.raises(GraderScriptError, match=message):
        grader_keys(source)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {'a': 1, 'b': 0.5}", "returned '0.5' (float) for 'b', not 0 or 1"),
        ("return None", "returned NoneType from score()"),
        ("raise ValueError('odd')", "raised ValueError in line 4: odd"),
        ("import sys; sys.exit(0)", "raised SystemExit"),
        ("import os; os._exit(0)", "ended its process without an answer"),
        ("import os; os.kill(os.getpid(), 9)", "was killed (SIGKILL)"),
        ("import os; os.write(3, b'x' * 2_000_000)", "returned more than can be read"),
        ("for i in range(10**6): open(f'/ws/{i}', 'w').close()", "was stopped. It was stopped: it made more than"),
        ("import os; os.abort()", "was killed (SIGABRT)"),
        ("x = bytearray(10 ** 10)", "raised MemoryError"),
        ("open('/etc/passwd').read()", "raised FileNotFoundError"),
        ("open('/usr/lib/x', 'w')", "Read-only file system"),
        ("import socket; socket.create_connection(('127.0.0.1', 5432))", "PermissionError"),
        ("class E(Exception):\n    def __str__(self): raise self\nraise E", "an exception that cannot be described"),
    ],
)
def test_failing_call_affects_only_its_turn(body, message):
    source = on_tools(body)

    run = run_grader(source, [[], SENT, []])

    assert [turn.values for turn in run.turns] == [{"a": 0, "b": 0}] * 3
    assert [bool(turn.problem) for turn in run.turns] == [False, True, False]
    assert message in run.turns[1].problem


@pytest.mark.parametrize("body", ["while True: pass", "while True: print('x' * 10**6)"])
def test_endless_call_is_stopped(body, monkeypatch):
    monkeypatch.setattr(script, "CALL_SECONDS", 0.5)

    run = run_grader(on_tools(body), [SENT, []])

    assert [turn.problem for turn in run.turns] == ["the script did not end within 0.5 s", ""]


def test_fork_bomb_does_not_affect_the_next_call():
    body = "import os\nwhile True:\n    try: os.fork()\n    except OSError: return {'a': 1, 'b': 1}"

    run = run_grader(on_tools(body), [SENT, [], SENT])

    assert run.turns[1] == GraderTurn({"a": 0, "b": 0})


def test_calls_are_isolated_from_each_other():
    source = """
seen = []
def score(history):
    seen.append(1)
    found = {"first": int(len(seen) == 1), "full": int(len(history) == 1)}
    history.clear()
    return found
"""
    run = run_grader(source, [SENT, SENT])

    assert run.turns == (GraderTurn({"first": 1, "full": 1}),) * 2


WRITE_EVERYWHERE = """
import os
for fd in range(3, 64):
    try:
        os.write(fd, b'{"values": [["a", 7]]}\\n')
    except OSError:
        pass
return {}
"""
FORGED = r'{"values": [["a", 1], ["b", 1]]}\n'


@pytest.mark.parametrize(
    "body",
    [
        f"import sys; sys.__stdout__.write('{FORGED}' * 5); return {{'a': 0, 'b': 0}}",
        f"import os; os.write(1, b'{FORGED}' * 5); return {{'a': 0, 'b': 0}}",
        f"import json; json.dumps = lambda *a, **k: '{FORGED}'; return {{'a': 0, 'b': 0}}",
        "import builtins; builtins.isinstance = lambda *a: True; return 7",
        "import os; parent = f'/proc/{os.getppid()}/fd'; [open(f'{parent}/{n}', 'w') for n in os.listdir(parent)]",
        WRITE_EVERYWHERE,
    ],
)
def test_script_cannot_answer_for_another_turn(body):
    run = run_grader(on_tools(body), [SENT, []])

    assert [turn.values for turn in run.turns] == [{"a": 0, "b": 0}] * 2
    assert run.turns[1].problem == ""


def test_unknown_keys_are_ignored_and_missing_keys_are_0():
    run = run_grader(on_tools("return {'b': True, 'other': 'junk'}"), [SENT])

    assert run.turns == (GraderTurn({"a": 0, "b": 1}),)


def test_script_output_is_storable():
    odd = on_tools("raise ValueError('nul \\0 and half \\ud800')")

    problem = run_grader(odd, [SENT]).turns[0].problem

    assert "nul \ufffd and half ?" in problem
    with pytest.raises(GraderScriptError, match="a key that is not text"):
        grader_keys("def score(h): return {'a\\0': 0}")
    with pytest.raises(GraderScriptError, match="a key that is not text"):
        grader_keys("def score(h): return {'a\\ud800': 0}")


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ("raise ValueError('odd')", False),
        ("return None", False),
        ("import os; os._exit(0)", True),
        ("import os; os.kill(os.getpid(), 9)", True),
    ],
)
def test_stopped_call_differs_from_raising_call(body, broken):
    assert run_grader(on_tools(body), [SENT]).turns[0].broken is broken


READS_A_FILE = """
import os
from pathlib import Path

import yaml

def score(tools_history):
    config = Path("config") / "nanobot.yaml"
    folder = yaml.safe_load(config.read_text())["nanobot"]["workspace_dir"] if config.exists() else "nowhere"
    report = Path(os.path.expanduser(folder)) / "out" / "report.py"
    text = report.read_text() if report.exists() else ""
    return {"made": report.exists(), "imports_zipfile": "import zipfile" in text}
"""


def write(text: str) -> Callable[[Path], None]:
    def rebuild(folder: Path) -> None:
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        if text:
            (folder / "out").mkdir()
            (folder / "out" / "report.py").write_text(text)

    return rebuild


@pytest.mark.slow
def test_a_script_reads_the_workspace_as_it_was_at_each_turn():
    run = run_grader(READS_A_FILE, [[], [], []], rebuild=[write(""), write("import zipfile"), write("pass")])

    assert run.keys == ("made", "imports_zipfile")
    assert [list(turn.values.values()) for turn in run.turns] == [[0, 0], [1, 1], [1, 0]]


def test_without_a_workspace_a_script_that_reads_it_has_its_keys_and_earns_none():
    run = run_grader(READS_A_FILE, [[]])

    assert run.turns == (GraderTurn({"made": 0, "imports_zipfile": 0}),)


def test_a_script_cannot_change_the_workspace():
    source = READS_A_FILE.replace("text = ", "report.exists() and report.write_text('import zipfile'); text = ")

    run = run_grader(source, [[]], rebuild=[write("pass")])

    assert "Read-only file system" in run.turns[0].problem
