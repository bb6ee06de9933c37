"""Pilots whose persona binds tool servers, over their real transports: by address, and by a command in the sandbox."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from evaluation.models import MadeCall, Pilot, Session, ToolCall
from evaluation.pilots.control import control_pilot
from evaluation.pilots.session_work import work_on
from evaluation.results.pilot_report import pilot_report
from evaluation.sandbox import why_unavailable
from evaluation.store.rows import RowStore
from studio.domain.persona import PersonaSpec
from studio.domain.tool_servers import ServerText
from studio.drafts.load import load_episode
from studio.models import Benchmark
from studio.personas.files import save_file
from studio.personas.tool_servers import ask_server
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel
from tests.evaluation.tools.mcp.http_server import HttpToolServer, serving_tools, tool
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]

SECRET = "k3y-of-the-shop"
PROGRAM = Path(__file__).parents[1] / "tools/mcp/misbehaving.py"


class Killed(BaseException):
    """As if the worker died: nothing catches it."""


@pytest.fixture(autouse=True)
def allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MCP_ADDRESSES, settings.MCP_COMMANDS = ["127.0.0.1"], True
    settings.MCP_KEYS = ["SHOP_KEY@127.0.0.1", "PROBE_KEY@command"]
    monkeypatch.setenv("SHOP_KEY", SECRET)
    monkeypatch.setenv("PROBE_KEY", SECRET)


@pytest.fixture
def shop() -> Iterator[HttpToolServer]:
    with serving_tools(HttpToolServer()) as server:
        yield server


def by_address(shop: HttpToolServer, **fields: Any) -> ServerText:
    return ServerText(name="shop", address=shop.address, headers={"Authorization": "Bearer ${SHOP_KEY}"}, **fields)


def binding(server: ServerText, *files: Any) -> Benchmark:
    """Of one task, whose persona binds the server's tools as it lists them now."""
    told = intents("x", provided=(1,))
    benchmark = benchmark_of(
        task("a", intents=told, checklist=(rubric("y"),)), persona=PersonaSpec(user_id="clerk", files=files)
    )
    persona = benchmark.personas.get()
    kind = ask_server(load_episode(persona).persona, "", server)
    save_file(kind, persona, "", server, by=UserFactory())
    return benchmark


def start(stub: StubModel, benchmark: Benchmark) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return pilot_of(benchmark, agent=model, user_model=model, judge=model)


def calling(*calls: tuple[str, dict[str, Any]]) -> Any:
    """An agent that makes these calls one by one, then answers."""

    def answer(body: dict[str, Any]) -> Any:
        made = sum(message["role"] == "tool" for message in body["messages"])
        if made == len(calls):
            return "Done."
        name, arguments = calls[made]
        function = {"name": name, "arguments": json.dumps(arguments)}
        called = {"id": str(made), "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [called]}

    return answer


def stored_texts() -> str:
    models = [model for label in ("studio", "evaluation") for model in apps.get_app_config(label).get_models()]
    rows = [row for model in models for row in model._default_manager.values()]
    return "\n".join(
        bytes(value).decode("latin-1") if isinstance(value, (bytes, memoryview)) else str(value)
        for row in rows
        for value in row.values()
    )


@pytest.mark.slow
def test_pilot_calls_a_server_by_address_once_though_its_worker_died_and_keeps_its_key_to_itself(
    stub: StubModel, shop: HttpToolServer, monkeypatch: pytest.MonkeyPatch
):
    benchmark = binding(by_address(shop))
    shop.act = lambda name, arguments: f"Ordered {arguments['what']} with {SECRET}."
    stub.agent = calling(("mcp_shop_order", {"what": "tea"}))
    pilot = start(stub, benchmark)
    shop.tools.append(tool("sell"))  # after the pilot began: not the pilot's
    session = Session.objects.get(run__pilot=pilot)

    def die(*args: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(RowStore, "turn", die)
        with pytest.raises(Killed):
            work_on(session.pk)
    Session.objects.filter(pk=session.pk).update(lease_until="2000-01-01T00:00Z")
    work_through(pilot)

    assert pilot.state == "finished"
    [(name, arguments, key, authorization)] = shop.calls
    assert (name, arguments, authorization) == ("order", {"what": "tea"}, f"Bearer {SECRET}")
    [row] = ToolCall.objects.all()
    assert (row.name, row.arguments, row.ok, row.key) == ("mcp_shop_order", {"what": "tea"}, True, key)
    assert row.result == "Ordered tea with [SHOP_KEY]."
    assert row.milliseconds > 0
    assert MadeCall.objects.get().outside
    offered = {entry["function"]["name"] for body in stub.bodies for entry in body.get("tools", ())}
    assert {"mcp_shop_order", "mcp_shop_look"} <= offered and "mcp_shop_sell" not in offered
    [frozen] = pilot_report(pilot)["tool_servers"]
    assert frozen["name"] == "shop"
    assert SECRET not in stored_texts() + json.dumps(stub.bodies)


@pytest.mark.slow
def test_pilot_calls_a_server_that_is_a_command_in_the_sandbox(stub: StubModel):
    if words := why_unavailable():
        pytest.skip(words)
    server = ServerText(
        name="bad", command=("python3", "/run/program/main.py"), environment=("PROBE_KEY",), seconds=20, characters=200
    )
    benchmark = binding(server, file("mcp/bad/main.py", PROGRAM.read_text()))
    stub.agent = calling(
        ("mcp_bad_echo", {"city": "Bonn"}),
        ("mcp_bad_huge", {"size": 300}),
        ("mcp_bad_secret", {}),
        ("mcp_bad_fail", {}),
    )

    pilot = work_through(start(stub, benchmark))

    assert pilot.state == "finished"
    echo, huge, secret, fail = ToolCall.objects.order_by("position")
    assert json.loads(echo.result) == {"given": {"city": "Bonn"}, "key": echo.key}
    assert huge.result.startswith("x" * 200 + "\n[cut here: 100 more characters")
    assert json.loads(secret.result) == {"PROBE_KEY": "[PROBE_KEY]"}
    assert (fail.ok, fail.result) == (False, "no such city ?")
    assert SECRET not in stored_texts()


@pytest.mark.minutes
def test_late_answer_is_told_to_the_agent_and_the_session_goes_on(stub: StubModel, shop: HttpToolServer):
    benchmark = binding(by_address(shop, seconds=1))
    ended = threading.Event()
    shop.act = lambda name, arguments: str(ended.wait(30))
    stub.agent = calling(("mcp_shop_order", {}))

    pilot = work_through(start(stub, benchmark))
    ended.set()

    assert pilot.state == "finished"
    assert ToolCall.objects.get().result == (
        "Error: The server did not answer within 1 seconds. Whether it did anything is unknown."
    )


@pytest.mark.slow
def test_server_that_is_down_or_changed_makes_its_session_wait_with_a_plain_reason_and_is_called_once_it_is_back(
    stub: StubModel, shop: HttpToolServer
):
    pilot = start(stub, binding(by_address(shop)))
    stub.agent = calling(("mcp_shop_order", {}))
    session = Session.objects.get(run__pilot=pilot)
    shop.garbage = True

    work_on(session.pk)

    session.refresh_from_db()
    assert (session.state, session.failure) == ("error", "ToolServerLostError")
    assert session.reason.startswith("The tool server “shop” cannot be reached (")
    assert session.retry_at is not None

    shop.garbage, shop.tools = False, [tool("order", "To order and pay."), tool("sell")]
    Session.objects.update(retry_at="2000-01-01T00:00Z")
    work_through(pilot)

    session.refresh_from_db()
    assert (pilot.state, session.state, session.failure) == ("stopped", "error", "ToolServerChangedError")
    assert "has other tools than those this pilot began with (look, order)" in session.reason
    assert shop.calls == []

    shop.tools = [tool("order"), tool("look")]
    control_pilot(pilot.pk, "retry", by=None)
    work_through(pilot)

    assert pilot.state == "finished"
    assert ToolCall.objects.get().result == "order is done."  # not “whether it did anything is unknown”
    assert len(shop.calls) == 1
