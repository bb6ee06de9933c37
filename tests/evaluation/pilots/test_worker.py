"""Real workers in processes of their own, on the embedded broker, killed without warning."""

from __future__ import annotations

import os
import signal
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

from evaluation.models import ModelCall, Session, ToolCall, Turn
from evaluation.pilots.wait import wait_for_pilot
from evaluation.tools import toolbox
from studio.celery import app, workers_answer
from studio.domain.tool_servers import ToolServer
from studio.local import shared_server
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, task
from tests.evaluation.pilots.test_tool_servers import binding, calling
from tests.evaluation.stub_model import StubModel
from tests.evaluation.tools.mcp.http_server import HttpToolServer, serving_tools

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(110)]


@pytest.fixture
def start_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts workers on the test's database; kills what is left of them."""
    values = connection.settings_dict
    user, host, port = values["USER"] or "studio", values["HOST"], values["PORT"]
    host_and_port = quote(str(host), safe="") + (f":{port}" if port else "")
    broker = shared_server.acquire("valkey", throwaway=True)
    monkeypatch.setattr(app.conf, "broker_write_url", broker)
    monkeypatch.setattr(app.conf, "broker_read_url", broker)
    app._after_fork()  # pools remember the address of the broker that an earlier test spoke with
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "DATABASE_URL": f"postgres://{user}:{values['PASSWORD']}@{host_and_port}/{values['NAME']}",
        "CELERY_BROKER_URL": broker,
        "STUDIO_SESSION_LEASE_SECONDS": "2",
        "STUB_API_KEY": "none",
        "STUDIO_MODEL_NETWORKS": "127.0.0.1",
        "STUDIO_MCP_ADDRESSES": "127.0.0.1",
    }
    workers: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        log = (tmp_path / f"worker-{len(workers)}.log").open("wb")
        argv = [sys.executable, "-m", "celery", "-A", "studio", "worker", "--pool", "threads", "--concurrency", "4"]
        argv += ["--without-gossip", "--without-mingle", "--loglevel", "INFO"]
        worker = subprocess.Popen(argv, env=environment, stdout=log, stderr=log, start_new_session=True)
        workers.append(worker)
        return worker

    def start_and_wait() -> subprocess.Popen[bytes]:
        worker = start()
        until(lambda: worker.poll() is not None or workers_answer(), tmp_path)
        assert worker.poll() is None, (tmp_path / f"worker-{len(workers) - 1}.log").read_text()[-3000:]
        return worker

    yield start_and_wait
    for worker in workers:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
    app._after_fork()


def until(condition: Callable[[], bool], tmp_path: Path, seconds: float = 45) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            logs = "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(tmp_path.glob("worker-*.log")))
            raise AssertionError(f"It did not happen within {seconds} seconds.\n{logs}")
        time.sleep(0.05)


@pytest.mark.slow
def test_session_of_a_killed_worker_resumes_at_its_last_turn(
    stub: StubModel, start_worker: Callable[[], subprocess.Popen[bytes]], tmp_path: Path
):
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    tasks = [
        task("a", intents=intents("one", "two", "three"), assets=(file("a.md", "kept"),), checklist=(rubric("x"),)),
        task("b", checklist=(rubric("y"),)),
    ]

    def hold_third(body: dict) -> str:
        if stub.asked["agent"] == 3:
            stub.gate.clear()
            stub.gate.wait(60)
        return f"Reply to {body['messages'][-1]['content'][:40]}"

    stub.agent = hold_third
    first = start_worker()
    pilot = pilot_of(benchmark_of(*tasks), agent=model, user_model=model, judge=model)
    until(lambda: stub.asked["agent"] == 3, tmp_path)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    stored = list(Turn.objects.values_list("number", "reply", "snapshot"))
    answered = ModelCall.objects.count()
    sent = stub.asked.total()
    stub.gate.set()

    start_worker()
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


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_calls_of_a_tool_server_are_not_repeated_after_their_worker_was_killed_within_one(
    stub: StubModel, start_worker: Callable[[], subprocess.Popen[bytes]], tmp_path: Path, settings: Any
):
    settings.MCP_ADDRESSES = ["127.0.0.1"]
    stub.agent = calling(("mcp_shop_order", {"what": "tea"}), ("mcp_shop_order", {"what": "cake"}))
    held = threading.Event()
    with serving_tools(HttpToolServer()) as shop:
        shop.act = lambda name, arguments: str(arguments["what"] != "cake" or held.wait(60))
        benchmark = binding(ToolServer("shop", address=shop.address))
        model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
        first = start_worker()
        pilot = pilot_of(benchmark, agent=model, user_model=model, judge=model)
        until(lambda: len(shop.calls) == 2, tmp_path, seconds=120)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        held.set()
        start_worker()
        wait_for_pilot(pilot, log=lambda text: None)

    assert pilot.state == "finished"
    assert [arguments["what"] for _, arguments, *_ in shop.calls] == ["tea", "cake"]
    results = ToolCall.objects.order_by("position").values_list("result", "ok")
    assert list(results) == [("True", True), (toolbox.UNSURE, False)]
