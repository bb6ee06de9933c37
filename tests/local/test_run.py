"""`manage.py run` starts, supervises and stops the whole studio."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from studio.management.commands.run import collected_warnings
from tests.local.processes import finish, processes_of, start, wait_until, wait_until_all_ended
from tests.template_database import migrated_database

pytestmark = pytest.mark.timeout(300)


# Acquires the embedded broker of a data folder and prints its address.
HOLDER = """
import os, sys
from studio.local.services import ensure_broker
ensure_broker()
print(os.environ["CELERY_BROKER_URL"], flush=True)
sys.stdin.read()
"""


class Studio:
    """A studio that is starting, with its output so far."""

    def __init__(self, data: Path, *arguments: str, **environment: str) -> None:
        self.data = data
        self.output = ""
        self.process: subprocess.Popen[str] = start(
            ["manage.py", "run", "--no-sample", *arguments], data, **environment
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.output += line

    def wait_until_up(self) -> str:
        wait_until(
            lambda: "π-Bench Studio is at" in self.output or self.process.poll() is not None, "the start", seconds=280
        )
        match = re.search(r"π-Bench Studio is at (\S+)", self.output)
        assert match, self.output
        return match[1]

    def wait_until_down(self) -> int:
        status = self.process.wait(timeout=60)
        self.reader.join(timeout=10)
        return status


def page(address: str) -> int:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return int(answer.status)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def pid_of(data: Path, part: str) -> int:
    return min(pid for pid, command in processes_of(data).items() if part in command)


@pytest.mark.minutes
def test_studio_starts_once_restarts_crashed_processes_and_stops_with_its_data_intact(tmp_path: Path, taken_port: int):
    # It starts on the next port, since the given one is taken.
    first = Studio(tmp_path, "--port", str(taken_port))
    wait_until(lambda: "Starting the studio" in first.output, "its first output", seconds=60)
    twin = start(["manage.py", "run"], tmp_path)
    address = first.wait_until_up()
    assert f"Port {taken_port} is taken" in first.output
    assert page(address) == 200

    # A second start reports the running studio; a command shares its database.
    output, _ = twin.communicate(timeout=120)
    assert twin.returncode == 0
    assert "is starting; waiting for its address" in output
    assert f"is already running at {address}" in output
    for step in ("Database and broker", "Tables", "Styles and scripts", "Web server"):
        assert re.search(rf"^  {step} … [\d.]+ s$", first.output, re.MULTILINE), first.output
    assert re.search(r"web: process \d+", output)
    make = "from studio.models import User; User.objects.create_user('stored', password='x')"
    finish(["manage.py", "shell", "-v", "0", "-c", make], tmp_path)

    # A process that dies is restarted.
    os.kill(pid_of(tmp_path, "gunicorn studio.wsgi:application"), signal.SIGKILL)
    wait_until(lambda: "web was started again" in first.output, "the new web server", seconds=60)
    assert page(address) == 200

    # kill -9 of the supervisor ends everything within seconds.
    first.process.kill()
    first.wait_until_down()
    wait_until_all_ended(tmp_path)

    # The next start has all data; Ctrl-C stops everything cleanly.
    second = Studio(tmp_path, "--port", str(taken_port))
    address = second.wait_until_up()
    count = "from studio.models import User; print(User.objects.filter(username='stored').count())"
    assert finish(["manage.py", "shell", "-v", "0", "-c", count], tmp_path).strip() == "1"
    second.process.send_signal(signal.SIGINT)
    assert second.wait_until_down() == 0
    assert "Stopped. All data is kept." in second.output
    wait_until_all_ended(tmp_path)


@pytest.mark.slow
def test_failed_start_explains_why_and_leaves_no_processes(tmp_path: Path):
    studio = Studio(tmp_path, DATABASE_URL="postgres://studio@127.0.0.1:1/nowhere")

    status = studio.wait_until_down()

    assert status == 1
    assert "The database at 127.0.0.1:1 does not answer" in studio.output
    wait_until_all_ended(tmp_path)


def test_warnings_of_the_start_are_collected_once_each():
    with collected_warnings() as warnings:
        for _ in range(2):
            logging.getLogger("somewhere").warning("No sandbox: %s", "namespaces are forbidden")

    assert warnings == ["No sandbox: namespaces are forbidden"]


@pytest.fixture
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The address of a migrated one on the server of this test run."""
    with django_db_blocker.unblock():
        name, template = f"configured_{os.getpid()}", migrated_database()
        with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"
        with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.minutes
def test_configured_database_and_broker_replace_the_embedded_ones(database: str, tmp_path: Path):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    holder = start(["-c", HOLDER], theirs)
    assert holder.stdout
    broker = holder.stdout.readline().strip()

    studio = Studio(ours, "--port", "0", DATABASE_URL=database, CELERY_BROKER_URL=broker)
    answer = page(studio.wait_until_up())
    commands = " ".join(processes_of(ours).values())
    studio.process.send_signal(signal.SIGINT)
    status = studio.wait_until_down()
    holder.communicate(timeout=60)

    assert (answer, status) == (200, 0)
    assert "postgres" not in commands
    assert "valkey" not in commands
    assert not (ours / "postgres").exists()
    wait_until_all_ended(theirs)
