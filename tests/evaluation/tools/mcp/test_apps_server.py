from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from django.core.management import call_command
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.client.streamable_http import streamable_http_client

from evaluation.protocol.clock import Clock
from evaluation.tools import World, toolbox_for
from evaluation.tools.apps.simple_note import app as simple_note
from evaluation.tools.mcp.apps_server import app_tool_names, build_server, http_app, without_prefix
from evaluation.tools.workspace import Workspace
from tests.evaluation.builders import benchmark_of, task

BOUND = ("read_file", "mcp_appworld_simple_note__create_note", "mcp_appworld_simple_note__login", "fax__send")
LOGIN = {"username": "ada@example.com", "password": "notes-of-ada"}


def seeded() -> World:
    return World.from_data({"simple_note": simple_note.example}, Clock(datetime(2026, 5, 4, 8, 30)))


async def play(client: Client) -> list[tuple[bool, str]]:
    """Logs in, writes a note twice, and makes three calls that cannot be."""
    told = []

    async def call(name: str, **arguments: Any) -> str:
        result = await client.call_tool(name, arguments)
        told.append((result.is_error, result.content[0].text))  # type: ignore[union-attr]  # always text here
        return told[-1][1]

    token = json.loads(await call("mcp_appworld_simple_note__login", **LOGIN))["response"]["access_token"]
    for _ in range(2):
        await call("simple_note__create_note", title="Shopping", access_token=token)
    await call("mcp_appworld_simple_note__create_note", title="Shopping", access_token="x")
    await call("mcp_appworld_simple_note__create_note", colour="red")
    await call("fax__send")
    return told


def in_a_pilot(tmp_path: Path) -> list[tuple[bool, str]]:
    login, create = "mcp_appworld_simple_note__login", "mcp_appworld_simple_note__create_note"
    toolbox = toolbox_for(Workspace(tmp_path), (login, create), seeded())
    told = []

    def call(name: str, **arguments: Any) -> str:
        record = toolbox.call(name, json.dumps(arguments))
        told.append((not record.ok, record.result))
        return record.result

    token = json.loads(call(login, **LOGIN))["response"]["access_token"]
    for _ in range(2):
        call(create, title="Shopping", access_token=token)
    call(create, title="Shopping", access_token="x")
    call(create, colour="red")
    return told


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    app = http_app(build_server(app_tool_names(BOUND), seeded), "127.0.0.1", "sesame")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not (server.started and server.servers):
        thread.join(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join(10)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_client_meets_the_apps_as_they_are_in_a_pilot(tmp_path: Path, mode: str):
    async def meet() -> tuple[list[str], list[tuple[bool, str]]]:
        over_one_connection = InMemoryTransport(build_server(app_tool_names(BOUND), seeded))
        async with Client(over_one_connection, mode=mode) as client:
            return [tool.name for tool in (await client.list_tools()).tools], await play(client)

    names, told = asyncio.run(meet())

    assert names == ["mcp_appworld_simple_note__create_note", "mcp_appworld_simple_note__login"]
    assert told[:-1] == in_a_pilot(tmp_path)
    assert [failed for failed, _ in told] == [False, False, False, True, True, True]
    assert told[-1][1].startswith("Error: There is no tool 'fax__send'. The nearest: mcp_appworld_simple_note__")


@pytest.mark.slow
def test_every_connection_over_http_begins_anew(address: str):
    async def meet() -> list[tuple[bool, str]]:
        headers = {"Authorization": "Bearer sesame"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await play(client)

    first, second = asyncio.run(meet()), asyncio.run(meet())

    assert first == second
    assert [json.loads(text)["response"]["note_id"] for _, text in first[1:3]] == [2, 3]


@pytest.mark.parametrize("token", ["", "Bearer open", "sesame"])
def test_http_is_closed_without_its_token(address: str, token: str):
    answer = httpx2.post(address, headers={"Authorization": token} if token else {}, json={})

    assert answer.status_code == 401


def test_names_are_short_for_clients_that_put_the_server_before_them():
    assert without_prefix(["mcp_appworld_gmail__login", "gmail__login", "phone__login"]) == [
        "gmail__login",
        "phone__login",
    ]


def test_persona_that_binds_no_app_has_them_all():
    assert {"gmail__send_email", "todoist__create_task"} <= set(app_tool_names(["read_file"]))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--persona", "x"), "There is no persona “x”. Available: clerk"),
        (("--http", "many"), "This is no port."),
        (("--http", "0.0.0.0:8100"), "Anyone who reaches 0.0.0.0 could read the persona's data."),
    ],
)
def test_impossible_start_is_a_usage_error(options: tuple[str, ...], told: str):
    benchmark = benchmark_of(task("a"))
    err = io.StringIO()
    persona = benchmark.personas.get().user_id

    with pytest.raises(SystemExit) as end:
        call_command("mcp_apps", "--benchmark", benchmark.slug, "--persona", persona, *options, stderr=err)

    assert end.value.code == 2
    assert told in err.getvalue()
