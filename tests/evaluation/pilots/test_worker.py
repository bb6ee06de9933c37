"""Real workers in processes of their own, on the embedded broker, killed without warning."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from evaluation.leases import expire_dead
from evaluation.models import ModelCall, Pilot, Session, ToolCall, Turn
from evaluation.pilots.wait import wait_for_pilot
from evaluation.tools import toolbox
from studio.celery import app
from studio.domain.tool_servers import ServerText
from studio.local import shared_server
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, task
from tests.evaluation.pilots.test_tool_servers import binding, calling
from tests.evaluation.stub_model import StubModel
from tests.evaluation.tools.mcp.http_server import HttpToolServer, serving_tools

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1200)]


StartWorkers = Callable[..., list[subprocess.Popen[bytes]]]


@pytest.fixture
def start_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartWorkers]:
    """Starts so many workers with four places each on the test's database, with a beat; kills what is left of them.
    Takes what differs in their environment.

    A lease outlasts each test, so that a busy machine loses none of the living. Those of the dead are ended by the next
    worker that starts, or by ``expire_dead``.
    """
    values = connection.settings_dict
    user, host, port = values["USER"] or "studio", values["HOST"], values["PORT"]
    host_and_port = quote(str(host), safe="") + (f":{port}" if port else "")
    broker = shared_server.acquire("valkey", throwaway=True)
    monkeypatch.setattr(app.conf, "broker_write_url", broker)
    monkeypatch.setattr(app.conf, "broker_read_url", broker)
    app._after_fork()  # pools remember the address of the broker that an earlier test spoke with
    with app.connection_for_write() as connected:
        connected.default_channel.client.flushdb()  # what killed workers had is delivered again some time
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "DATABASE_URL": f"postgres://{user}:{values['PASSWORD']}@{host_and_port}/{values['NAME']}",
        "CELERY_BROKER_URL": broker,
        "STUDIO_SESSION_LEASE_SECONDS": "600",
        "STUDIO_DATABASE_CONNECTIONS": "4",
        "STUB_API_KEY": "none",
        "STUDIO_MODEL_NETWORKS": "127.0.0.1",
        "STUDIO_MCP_ADDRESSES": "127.0.0.1",
    }
    processes: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, **different: str) -> subprocess.Popen[bytes]:
        log = (tmp_path / f"process-{len(processes)}.log").open("wb")
        argv = [sys.executable, "-m", "celery", "-A", "studio.celery", *arguments, "--loglevel", "INFO"]
        process = subprocess.Popen(argv, env=environment | different, stdout=log, stderr=log, start_new_session=True)
        processes.append(process)
        return process

    def start_and_wait(number: int = 1, **different: str) -> list[subprocess.Popen[bytes]]:
        names = [f"worker-{len(processes) + each}@{socket.gethostname()}" for each in range(number)]
        workers = [start("worker", "--hostname", name, "--concurrency", "4", **different) for name in names]
        until(lambda: len(app.control.ping(destination=names, timeout=1)) == number, tmp_path)
        return workers

    start("beat", "--pidfile=")
    yield start_and_wait
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    app._after_fork()


def until_finished(pilot: Pilot, tmp_path: Path) -> None:
    until(Pilot.objects.filter(pk=pilot.pk, state="finished").exists, tmp_path)


def until(condition: Callable[[], bool], tmp_path: Path, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            logs = "\n".join(
                path.read_text(errors="replace")[-3000:] for path in sorted(tmp_path.glob("process-*.log"))
            )
            raise AssertionError(f"It did not happen within {seconds} seconds.\n{logs}")
        time.sleep(0.05)


@pytest.mark.minutes
def test_session_of_a_killed_worker_resumes_at_its_last_turn(
    stub: StubModel, start_workers: StartWorkers, tmp_path: Path
):
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    tasks = [
        task("a", intents=intents("one", "two", "three"), assets=(file("a.md", "kept"),), checklist=(rubric("x"),)),
        task("b", checklist=(rubric("y"),)),
    ]

    killed = threading.Event()

    def hold_third(body: dict) -> str:
        if stub.asked["agent"] == 3:
            killed.wait(120)
        return f"Reply to {body['messages'][-1]['content'][:40]}"

    stub.agent = hold_third
    (first,) = start_workers()
    pilot = pilot_of(benchmark_of(*tasks), agent=model, user_model=model, judge=model)
    until(lambda: stub.asked["agent"] == 3, tmp_path)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    stored = list(Turn.objects.values_list("number", "reply", "snapshot"))
    answered = ModelCall.objects.count()
    sent = stub.asked.total()
    killed.set()

    start_workers()
    messages: list[str] = []
    wait_for_pilot(pilot, log=messages.append)

    assert (pilot.state, messages) == ("finished", ["Workers answer; waiting for them."])
    assert len(stored) == 2
    session = Session.objects.order_by("position")[0]
    assert list(session.turns.values_list("number", "reply", "snapshot"))[:2] == stored
    assert session.turns.count() == 4
    assert sent == answered + 1  # the one under way when it was killed
    assert stub.asked.total() - sent == ModelCall.objects.count() - answered
    assert session.turns.last().snapshot.manifest.keys() == {"a.md"}


@pytest.mark.minutes
def test_calls_of_a_tool_server_are_not_repeated_after_their_worker_was_killed_within_one(
    stub: StubModel, start_workers: StartWorkers, tmp_path: Path, settings: Any
):
    settings.MCP_ADDRESSES = ["127.0.0.1"]
    stub.agent = calling(("mcp_shop_order", {"what": "tea"}), ("mcp_shop_order", {"what": "cake"}))
    held = threading.Event()
    with serving_tools(HttpToolServer()) as shop:
        shop.act = lambda name, arguments: str(arguments["what"] != "cake" or held.wait(60))
        benchmark = binding(ServerText(name="shop", address=shop.address))
        model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
        (first,) = start_workers()
        pilot = pilot_of(benchmark, agent=model, user_model=model, judge=model)
        until(lambda: len(shop.calls) == 2, tmp_path)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        held.set()
        start_workers()
        until_finished(pilot, tmp_path)

    assert [arguments["what"] for _, arguments, *_ in shop.calls] == ["tea", "cake"]
    results = ToolCall.objects.order_by("position").values_list("result", "ok")
    assert list(results) == [("True", True), (toolbox.UNSURE, False)]


@pytest.mark.minutes
def test_of_two_workers_one_finishes_what_the_other_had_when_it_was_killed(
    stub: StubModel, start_workers: StartWorkers, tmp_path: Path
):
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    one, other = start_workers(2)
    stub.gate.clear()
    pilot = pilot_of(
        benchmark_of(task("a", intents=intents("one", "two"))), agent=model, user_model=model, judge=model, runs=6
    )
    until(lambda: stub.asked["agent"] == 6, tmp_path)
    holders = {token.split(":")[1] for token in Session.objects.values_list("claimed_by", flat=True)}
    assert holders == {str(one.pid), str(other.pid)}
    held = Session.objects.filter(claimed_by__contains=f":{one.pid}:").count()
    os.killpg(one.pid, signal.SIGKILL)
    one.wait()
    assert expire_dead() == held
    stub.gate.set()

    until_finished(pilot, tmp_path)

    assert set(Session.objects.values_list("state", flat=True)) == {"finished"}
    assert stub.asked.total() == ModelCall.objects.count() + held  # those under way when it was killed


@pytest.mark.slow
def test_a_message_that_the_broker_delivers_again_while_its_session_runs_does_nothing(
    stub: StubModel, start_workers: StartWorkers, tmp_path: Path
):
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    start_workers(DJANGO_SETTINGS_MODULE="tests.evaluation.pilots.impatient_broker")
    stub.gate.clear()
    pilot = pilot_of(benchmark_of(task("a", intents=intents("one"))), agent=model, user_model=model, judge=model)
    log = tmp_path / "process-1.log"
    until(lambda: stub.asked.total() == 1, tmp_path)
    until(lambda: len(re.findall(r"run_session\[.*received", log.read_text())) >= 2, tmp_path)
    until(lambda: len(re.findall(r"run_session\[.*succeeded", log.read_text())) >= 1, tmp_path)
    assert stub.asked.total() == 1
    stub.gate.set()

    until_finished(pilot, tmp_path)

    assert stub.asked.total() == ModelCall.objects.count()
