from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from evaluation.protocol.clock import MOVING, STANDING, Clock
from evaluation.protocol.participants import ToolRecord
from evaluation.tools import Toolbox
from evaluation.tools.mcp import servers
from evaluation.tools.mcp.servers import (
    BoundServer,
    ServerTools,
    ToolServerChangedError,
    ToolServerLostError,
    list_server_tools,
)
from studio.domain.tool_servers import ToolServer, ToolServerError, ToolServerPolicy

FILES = {"main.py": Path(__file__).with_name("misbehaving.py").read_bytes()}
SERVER = ToolServer("bad", command=("python3", "/run/program/main.py"), seconds=20)
POLICY = ToolServerPolicy(commands=True, keys=(("PROBE_KEY", "command"),))


@pytest.fixture(scope="module")
def listed() -> ToolServer:
    return replace(SERVER, tools=list_server_tools(SERVER, FILES, POLICY))


@pytest.fixture
def tools(listed: ToolServer) -> Iterator[ServerTools]:
    opened = ServerTools([BoundServer(listed, FILES)], POLICY)
    yield opened
    opened.close()


def box(tools: ServerTools, *names: str) -> Toolbox:
    return Toolbox(tools.tools([f"mcp_bad_{name}" for name in names]))


def call(box: Toolbox, name: str, **arguments: object) -> ToolRecord:
    return box.call(f"mcp_bad_{name}", json.dumps(arguments))


def test_tools_are_offered_as_they_were_listed_and_answer(listed: ToolServer, tools: ServerTools):
    offered = box(tools, "echo", "nothing")
    record = call(offered, "echo", city="Bonn")

    assert [schema["function"]["name"] for schema in offered.schemas] == ["mcp_bad_echo"]
    assert offered.schemas[0]["function"]["description"] == "To echo."
    assert (record.ok, json.loads(record.result)) == (True, {"given": {"city": "Bonn"}, "key": ""})
    assert [tool.name for tool in listed.tools if tool.repeatable] == ["echo"]


def test_misbehaviour_is_told_to_the_agent_and_the_next_call_goes_on(listed: ToolServer):
    tools = ServerTools([BoundServer(listed, FILES)], POLICY)
    hurried = ServerTools([BoundServer(replace(listed, seconds=0.2), FILES)], POLICY)
    offered = box(tools, "huge", "fail")
    try:
        long, huge = call(offered, "huge", size=30_000), call(offered, "huge", size=4_100_000)
        failed, stalled = call(offered, "fail"), call(box(hurried, "stall"), "stall")
    finally:
        tools.close()
        hurried.close()

    assert long.ok and long.result.endswith("[cut here: 11000 more characters; ask for less at a time]")
    assert (huge.ok, "more than 4 MB" in huge.result) == (False, True)
    assert (failed.ok, failed.result) == (False, "no such city ?")
    assert stalled.result.startswith("Error: The server did not answer within 0.2 seconds.")


def test_server_that_dies_is_our_failure_and_starts_anew(tools: ServerTools):
    offered = box(tools, "echo", "die")

    with pytest.raises(ToolServerLostError, match="went away in the middle of a call"):
        call(offered, "die")

    assert ToolServerLostError.retryable
    assert call(offered, "echo").ok


def test_tool_that_changes_while_its_server_runs_stops_the_session_and_a_new_one_does_not(tools: ServerTools):
    offered = box(tools, "echo", "grow", "turn")
    call(offered, "grow")
    for _ in range(50):  # the news may come after the answer
        assert call(offered, "echo").ok

    def go_on() -> None:
        call(offered, "turn")
        for _ in range(50):
            call(offered, "echo")

    with pytest.raises(ToolServerChangedError, match=r"other tools than those this pilot began with \(echo\)"):
        go_on()


def test_server_other_than_frozen_is_not_used(listed: ToolServer):
    frozen = replace(listed, tools=(replace(listed.tools[0], description="To obey."), *listed.tools[1:]))
    tools = ServerTools([BoundServer(frozen, FILES)], POLICY)

    with pytest.raises(ToolServerChangedError, match=r"\(echo\)"):
        call(box(tools, "echo"), "echo")
    tools.close()


def test_command_gets_the_variables_it_names_and_no_others(listed: ToolServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PROBE_KEY", "s3cret")
    monkeypatch.setenv("PROBE_OTHER", "hidden")
    tools = ServerTools([BoundServer(replace(listed, environment=("PROBE_KEY",)), FILES)], POLICY)

    assert json.loads(call(box(tools, "secret"), "secret").result) == {"PROBE_KEY": "[PROBE_KEY]"}
    tools.close()


def test_command_is_told_the_sessions_time_as_it_starts(listed: ToolServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(servers, "environment", lambda now: {"PROBE_TIME": now.isoformat()})
    told = {}
    for pace in (MOVING, STANDING):
        tools = ServerTools([BoundServer(listed, FILES)], POLICY)
        tools.clock = Clock(datetime(2026, 4, 13, 9, 0), pace)
        told[pace] = json.loads(call(box(tools, "secret"), "secret").result)
        tools.close()

    assert told == {MOVING: {"PROBE_TIME": "2026-04-13T09:00:00"}, STANDING: {}}


@pytest.mark.parametrize(
    ("server", "policy", "why"),
    [
        (SERVER, ToolServerPolicy(), "Commands are not run here"),
        (replace(SERVER, environment=("HOME",)), POLICY, "“command” does not get HOME here"),
        (replace(SERVER, environment=("PROBE_KEY",)), POLICY, "needs PROBE_KEY, which is not set on this machine"),
        (replace(SERVER, command=("nothing-like-this",)), POLICY, "nothing-like-this: No such file or directory"),
        (ToolServer("out", address="https://example.org/mcp"), POLICY, "“example.org” is not reached from here"),
    ],
)
def test_server_that_cannot_be_reached_says_why(server: ToolServer, policy: ToolServerPolicy, why: str):
    with pytest.raises(ToolServerError, match=why):
        list_server_tools(server, FILES, policy)


def why_refused(*command: str) -> str:
    with pytest.raises(ToolServerError) as caught:
        list_server_tools(replace(SERVER, command=command), FILES, POLICY)
    return str(caught.value)


def test_command_may_open_pairs_of_sockets_and_no_others():
    program = """
import socket, sys
socket.socketpair()
for family in (socket.AF_UNIX, socket.AF_INET):
    try:
        socket.socket(family)
    except OSError as error:
        print(family.name, error.strerror, file=sys.stderr)
"""

    said = why_refused("python3", "-c", program)

    assert said.splitlines() == [
        "The server cannot be reached (AF_UNIX Operation not permitted",
        "AF_INET Operation not permitted).",
    ]


@pytest.mark.skipif(not Path("/usr/bin/node").exists(), reason="Node is not installed")
def test_server_written_for_node_is_one_like_others():
    program = {"greeting.mjs": Path(__file__).with_name("greeting.mjs").read_bytes()}
    server = replace(SERVER, name="node", command=("node", "/run/program/greeting.mjs"))
    server = replace(server, tools=list_server_tools(server, program, POLICY))
    tools = ServerTools([BoundServer(server, program)], POLICY)

    record = Toolbox(tools.tools(["mcp_node_greet"])).call("mcp_node_greet", '{"name": "Ada"}')
    tools.close()

    assert (record.ok, record.result) == (True, "Hello Ada")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import nothing_there", "No module named 'nothing_there')."),
        ("print('Listening on 8000')", "it printed “Listening on 8000”, which is no message of the protocol)."),
        ("raise SystemExit(3)", "it ended with status 3 and said nothing)."),
        ("import sys; sys.exit('x' * 900 + ' is missing')", "xx is missing)."),
    ],
)
def test_reason_why_a_command_cannot_be_reached_is_what_it_said_last(program: str, reason: str):
    assert why_refused("python3", "-c", program).endswith(reason)
