"""What `make run` and the units in deploy/ start."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from studio.local import stack
from studio.web.gunicorn import on_starting

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def option(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1]


def test_idle_connections_outlive_those_of_browsers_and_proxies():
    with socket.socket() as listener:
        argv = list(stack.web_process(listener, 0).argv)
    unit = (DEPLOY / "pi-bench-studio-web.service").read_text().split()

    assert option(argv, "--keep-alive") == option(unit, "--keep-alive") == "75"


def test_access_log_names_the_request():
    with socket.socket() as listener:
        assert "%({x-request-id}o)s" in option(list(stack.web_process(listener, 0).argv), "--access-logformat")


def test_connections_of_a_deployment_and_of_make_run_stay_below_the_database_servers_limits():
    web, worker = (
        (DEPLOY / f"pi-bench-studio-{name}.service").read_text().replace("\\\n", " ") for name in ("web", "worker@")
    )

    def connections(unit: str) -> int:
        return int(re.findall(r"STUDIO_DATABASE_CONNECTIONS=(\d+)", unit)[0])

    deployed = int(option(web.split(), "--workers")) * connections(web) + 4 * connections(worker)
    with socket.socket() as listener:
        run = [stack.web_process(listener, 0), *stack.worker_processes()]
    processes = {process.name: connections(" ".join(process.argv)) for process in run}

    assert deployed <= 97  # PostgreSQL's 100 without those reserved for administrators
    assert processes.pop("web") * stack.WEB_PROCESSES + sum(processes.values()) <= 297  # the embedded one allows 300
    assert all(number <= 20 for number in processes.values())


def test_there_is_a_worker_for_each_core():
    assert len({worker.name for worker in stack.worker_processes()}) == (os.cpu_count() or 1)


def test_worker_unit_limits_what_all_sandboxes_together_use():
    unit = (DEPLOY / "pi-bench-studio-worker@.service").read_text()

    assert re.search(r"^MemoryMax=\d+%$", unit, re.M)
    assert re.search(r"^TasksMax=\d+$", unit, re.M)
    assert re.search(r"^OOMPolicy=continue$", unit, re.M)


def test_units_that_run_sandboxes_have_a_cgroup_for_each_delegated():
    for name in ("web", "worker@"):
        assert "\nDelegate=memory\n" in (DEPLOY / f"pi-bench-studio-{name}.service").read_text()


def pool_of(*argv: str) -> dict[str, int]:
    """Of connections to the database, in a process that was started so."""
    read = (
        f"import json, sys; sys.argv = {list(argv)}; import studio.celery;"
        "from django.conf import settings; print(json.dumps(settings.DATABASES['default']['OPTIONS']['pool']))"
    )
    without = {name: value for name, value in os.environ.items() if name != "STUDIO_DATABASE_CONNECTIONS"}
    given = without if "worker" in argv else without | {"STUDIO_DATABASE_CONNECTIONS": "10"}
    told = subprocess.run([sys.executable, "-c", read], env=given, capture_output=True, text=True, check=True)
    return dict(json.loads(told.stdout))


@pytest.mark.slow
def test_a_bare_worker_has_few_connections_to_the_database():
    assert pool_of("celery", "-A", "studio.celery", "worker")["max_size"] == 12


@pytest.mark.slow
def test_people_wait_for_the_database_less_long_than_workers():
    assert pool_of("gunicorn")["timeout"] == 10
    assert pool_of("celery", "-A", "studio.celery", "worker")["timeout"] == 60


def test_web_server_answers_only_once_its_gate_is_opened(monkeypatch):
    gate, held = os.pipe()
    monkeypatch.setenv("STUDIO_GATE", str(gate))
    os.write(held, b"!")  # or this test would wait, as the server does

    on_starting(None)

    assert select.select([gate], [], [], 0) == ([], [], [])
    os.close(held)
    os.close(gate)
