"""What `make run` and the units in deploy/ start."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from studio.local import stack

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def option(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1]


def test_idle_connections_outlive_those_of_browsers_and_proxies():
    with socket.socket() as listener:
        argv = list(stack.web_process(listener).argv)
    unit = (DEPLOY / "pi-bench-studio-web.service").read_text().split()

    assert option(argv, "--keep-alive") == option(unit, "--keep-alive") == "75"


def test_access_log_names_the_request():
    with socket.socket() as listener:
        assert "%({x-request-id}o)s" in option(list(stack.web_process(listener).argv), "--access-logformat")


def test_worker_unit_limits_what_all_sandboxes_together_use():
    unit = (DEPLOY / "pi-bench-studio-worker.service").read_text()

    assert re.search(r"^MemoryMax=\d+%$", unit, re.M)
    assert re.search(r"^TasksMax=\d+$", unit, re.M)
    assert re.search(r"^OOMPolicy=continue$", unit, re.M)
