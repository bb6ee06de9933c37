"""Agents that are programs: the example of the documentation, and programs that go wrong."""

from __future__ import annotations

import json
import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evaluation.agents import AgentLimits, AgentSetup, World, make_agent, nanobot
from evaluation.agents.command import in_order
from evaluation.llm import Completion
from evaluation.protocol.participants import AgentError, AgentReply, InfrastructureError, Tokens, ToolRecord
from evaluation.sandbox import SandboxUnavailableError, why_unavailable
from evaluation.tools import programs
from evaluation.tools.apps.simple_note import app as simple_note
from studio.domain.opening_message import EnvironmentEvent, Incoming

PAGE = Path(__file__).parents[3] / "docs/agents-as-programs.md"
EXAMPLE = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    if words := why_unavailable():
        pytest.skip(words)


class Model:
    def __init__(self) -> None:
        self.asked: list[Any] = []

    def complete(self, messages: Any, **params: Any) -> Completion:
        self.asked.append(messages)
        return Completion(f"Answer {len(self.asked)}.", (), "stop", Tokens(3, 2), Decimal(0), "", False)


def reply(folder: Path, program: str, message: Incoming = "Hello", *, model: Any = None, **setup: Any) -> AgentReply:
    given = AgentSetup(model or Model(), folder, params={"program": program}, **setup)
    return make_agent(given, "command").reply(message)


def test_example_works_and_remembers(tmp_path: Path):
    (tmp_path / "notes.md").write_text("x")
    model = Model()

    first = reply(tmp_path, EXAMPLE, "What is here?", model=model)
    second = reply(tmp_path, EXAMPLE, "And?", model=model, state=first.state)

    assert (first.text, second.text) == ("Answer 1.", "Answer 2.")
    assert [(call.name, call.result) for call in first.tool_calls] == [("list_dir", "notes.md")]
    assert (tmp_path / "answer.md").read_text() == "Answer 2."
    assert [message["content"] for message in model.asked[1]] == [
        "What is here?", "list_dir says: notes.md", "Answer 1.", "And?",
    ]  # fmt: skip
    assert first.tokens == Tokens(3, 2)
    assert second.state["turn"] == 2
    assert len(EXAMPLE.strip().splitlines()) <= 32


def test_event_that_opens_a_session_is_told_as_such(tmp_path: Path):
    told = "import json, sys; line = json.loads(input()); print(json.dumps({'reply': json.dumps(line['event'])}))"

    opened = reply(tmp_path, told, EnvironmentEvent("webhook", {"on": date(2026, 4, 13)}, "Look."))

    assert json.loads(opened.text) == {"kind": "webhook", "payload": {"on": "2026-04-13"}, "note": "Look."}
    assert reply(tmp_path, told).text == "null"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("", "The agent has no program"),
        ("1 / 0", "The program failed. It ended with status 1: ZeroDivisionError: division by zero"),
        ("print('hello')", "Its last line of output is no JSON object."),
        ("raise SystemExit", "The program failed. It printed nothing."),
        ("import sys; print('oh dear', file=sys.stderr)", "It printed nothing. Its last words: oh dear"),
        ("print('x' * 50_000_000)", "It was stopped: it printed more than 1024 KiB."),
        ("print('{}')", "The program's line has none of reply, calls and ask."),
        ("print('{\"ask\": []}')", "The program asked the model without a message."),
    ],
)
def test_failing_program_is_the_agents_failure(tmp_path: Path, program: str, words: str):
    with pytest.raises(AgentError) as failure:
        reply(tmp_path, program)

    assert words in str(failure.value)


def test_program_that_never_answers_is_stopped_and_what_it_leaves_running_does_not_hold_its_turn(tmp_path: Path):
    stays = "import json, subprocess; subprocess.Popen(['sleep', '100']); print(json.dumps({'reply': 'Hi'}))"

    with pytest.raises(AgentError, match=r"It was stopped: it ran longer than [\d.]{1,3} s\."):
        reply(tmp_path, "import time; time.sleep(100)", limits=AgentLimits(turn_seconds=1))

    assert reply(tmp_path, stays).text == "Hi"


def test_program_that_calls_without_end_is_stopped(tmp_path: Path):
    endless = 'print(\'{"calls": [{"name": "list_dir"}, 7]}\')'

    ended = reply(tmp_path, endless, limits=AgentLimits(tool_calls=3))

    assert ended.note == "The limit of 3 tool calls in a turn was reached."
    assert [call.ok for call in ended.tool_calls] == [True, False, True, False]


def test_missing_sandbox_is_no_failure_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*args: Any, **options: Any) -> None:
        raise SandboxUnavailableError("No namespaces.")

    monkeypatch.setattr(programs, "run_shell", refuse)

    with pytest.raises(InfrastructureError, match=r"The agent's program cannot be run. No namespaces."):
        reply(tmp_path, "print(1)")


CONNECTED = """
import json, os, socket, sys
from http.client import HTTPConnection

line = json.loads(input())
tools = socket.socket(socket.AF_UNIX)
tools.connect(os.environ["STUDIO_TOOLS_SOCKET"])
lines = tools.makefile("rw")


def say(method, number=None, **params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    print(json.dumps(message | ({} if number is None else {"id": number})), file=lines, flush=True)
    return json.loads(lines.readline())["result"] if number else None


say("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "me", "version": "1"})
say("notifications/initialized")
names = [tool["name"] for tool in say("tools/list", 2)["tools"]]
login = {"username": "ada@example.com", "password": "notes-of-ada"}
told = say("tools/call", 3, name="simple_note__login", arguments=login)["content"][0]["text"]
wrong = say("tools/call", 4, name="read_file", arguments={"path": "x"})


class Model(HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["STUDIO_MODEL_SOCKET"])


def ask(**request):
    model = Model("studio")
    model.request("POST", "/v1/chat/completions", json.dumps(request))
    return model.getresponse().read().decode()


answer = json.loads(ask(messages=[{"role": "user", "content": line["message"]}]))["choices"][0]["message"]["content"]
streamed = ask(messages=[{"role": "user", "content": "again"}], stream=True)
refused = json.loads(ask(nothing=1))["error"]["message"]
try:
    socket.socket(socket.AF_INET)
    lan = "opened"
except OSError as error:
    lan = type(error).__name__
open("made.txt", "w").write("by the program")
token = json.loads(told)["response"]["token_type"]
found = [names, token, wrong["isError"], answer, streamed.count("data: "), refused, lan]
print(json.dumps({"reply": json.dumps(found), "did": [{"name": "write_file", "arguments": {"path": "made.txt"}}]}))
"""


def test_program_with_sockets_reaches_tools_by_mcp_and_its_model_over_http(tmp_path: Path):
    names = ("mcp_appworld_simple_note__login", "read_file")
    setup = AgentSetup(
        Model(),  # type: ignore[arg-type]  # what is asked of it
        tmp_path,
        tools=names,
        world=World.from_data({"simple_note": simple_note.example}),
        params={"program": CONNECTED, "connection": "sockets"},
    )

    given = make_agent(setup, "command").reply("Hello")

    listed, token, wrong, answer, events, refused, lan = json.loads(given.text)
    assert (listed, token, wrong) == (["simple_note__login"], "Bearer", True)
    assert (answer, events, refused) == ("Answer 1.", 3, "This is no request for a completion.")
    assert lan == "PermissionError"
    assert [call.name for call in given.tool_calls] == [names[0], "write_file"]
    assert given.tokens == Tokens(6, 4)
    assert (tmp_path / "made.txt").read_text() == "by the program"


@pytest.mark.parametrize(
    ("did", "order"),
    [
        ([], ["a", "b"]),
        ([{"name": "x"}], ["a", "b", "x"]),
        ([{"name": "x"}, {"recorded": True}, {"name": "y", "ok": False}, {"recorded": True}], ["x", "a", "y!", "b"]),
        ([{"recorded": True}, {"name": "x"}], ["a", "b", "x"]),
        ([{"recorded": True}, 3, {"recorded": True}, {"recorded": True}], ["a", "", "b"]),
    ],
)
def test_calls_of_a_program_stand_in_the_order_it_tells(did: list[Any], order: list[str]):
    recorded = [ToolRecord("a", {}, ""), ToolRecord("b", {}, "")]

    assert [call.name + "!" * (not call.ok) for call in in_order(recorded, did)] == order


class DownModel:
    def complete(self, messages: Any, **params: Any) -> Completion:
        raise InfrastructureError("The endpoint is down.")


def test_program_with_sockets_is_ended_when_its_model_is_down(tmp_path: Path):
    stubborn = CONNECTED.partition("answer = ")[0] + "while True: ask(messages=[])"
    setup = AgentSetup(
        DownModel(),  # type: ignore[arg-type]  # what is asked of it
        tmp_path,
        tools=("simple_note__login",),
        world=World.from_data({"simple_note": simple_note.example}),
        params={"program": stubborn, "connection": "sockets"},
    )

    with pytest.raises(InfrastructureError, match="endpoint is down"):
        make_agent(setup, "command").reply("Hello")


def test_without_nanobot_its_agent_waits_and_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(nanobot, "nanobot_packages", lambda: None)

    with pytest.raises(InfrastructureError, match="make nanobot-agent"):
        make_agent(AgentSetup(Model(), tmp_path), "nanobot").reply("Hello")  # type: ignore[arg-type]  # never asked
