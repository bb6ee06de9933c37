"""A database server that is killed while somebody writes and a pilot runs: all goes on by itself, nothing is lost."""

from __future__ import annotations

import os
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import expect

from studio.dev.pictures import chromium
from studio.local.servers import Postgres
from tests.local.processes import finish, wait_until, wait_until_all_ended
from tests.local.test_run import Studio, pid_of

AWAY = "The database cannot be reached just now."
PATIENCE = 120_000
"""Milliseconds: the studio tries to reach the database for a while before it says so."""
TASK = """
from studio.models import Task
print("TASK", Task.objects.get(task_id="radio_02_briefing").get_absolute_url())
"""
PILOT = [
    *("manage.py", "pilot", "--benchmark", "sample", "--accept-warnings", "--persona", "radio_producer"),
    *("--agent", "scripted-helpful", "--user-model", "scripted-user", "--judge", "scripted-judge"),
]


def stored(data: Path, question: str) -> list[tuple[object, ...]]:
    with psycopg.connect(Postgres(data).url) as connection:
        return connection.execute(question).fetchall()


def answer_of(address: str, cookies: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Cookie": cookies}), timeout=120) as found:
            return found.status, found.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@contextmanager
def killed_database(data: Path) -> Iterator[None]:
    """The server is killed at once, and is started again only afterwards."""
    supervisor, server = pid_of(data, "studio.local.shared_server postgres"), pid_of(data, "/bin/postgres -D")
    os.kill(supervisor, signal.SIGSTOP)
    try:
        os.kill(server, signal.SIGKILL)
        yield
    finally:
        os.kill(supervisor, signal.SIGCONT)


@pytest.mark.minutes
@pytest.mark.timeout(1200)
def test_to_lose_words_and_sessions_by_killing_the_database_server(tmp_path: Path):
    studio = Studio(tmp_path, "--port", "0", STUDIO_SESSION_LEASE_SECONDS="5")
    address = studio.wait_until_up().rstrip("/")
    finish(["manage.py", "load_sample"], tmp_path)
    task = re.search("TASK (.+)", finish(["manage.py", "shell", "-v", "0", "-c", TASK], tmp_path))
    assert task
    with chromium() as browser:
        page = browser.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        page.goto(task[1])
        page.get_by_label("Username").fill("author")
        page.get_by_label("Password", exact=True).fill("author-demo")
        page.keyboard.press("Enter")
        request = page.get_by_role("textbox", name="Request")
        expect(request).to_be_visible(timeout=PATIENCE)
        cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in page.context.cookies())
        finish(PILOT, tmp_path)

        with killed_database(tmp_path):
            request.fill("Written while the database was away.")
            expect(page.get_by_text("saved in this browser").first).to_be_visible(timeout=PATIENCE)
            answers = [answer_of(f"{address}{path}", cookies) for path in ("/benchmarks/", "/api/benchmarks/")]
        assert [(status, AWAY in text) for status, text in answers] == [(503, True)] * 2

        expect(page.locator("[data-save-status]")).to_contain_text("Draft saved", timeout=PATIENCE)
        page.reload()
        expect(request).to_have_value("Written while the database was away.", timeout=PATIENCE)
    pilots = "SELECT DISTINCT state FROM evaluation_pilot"
    wait_until(lambda: stored(tmp_path, pilots) == [("finished",)], "the pilot", seconds=300)
    assert stored(tmp_path, "SELECT DISTINCT state, reason FROM evaluation_session") == [("finished", "")]
    studio.process.send_signal(signal.SIGINT)
    assert studio.wait_until_down() == 0
    wait_until_all_ended(tmp_path)
