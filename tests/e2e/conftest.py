"""The sample benchmark, and browser windows in which its users are signed in."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from playwright.sync_api import Browser, expect

from evaluation.models import ModelEndpoint
from studio.dev.browser import find_chromium
from studio.dev.pictures import chromium
from studio.imports.sample import load_sample
from studio.models import Benchmark, Task, User
from tests.e2e.snapshot import Snapshot
from tests.e2e.visitor import PATIENCE, Visitor, Windows

SCRIPTED = ("helpful", "passive", "asks", "silent", "user", "judge", "helper")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.django_db(transaction=True))
            if not item.get_closest_marker("everyday") and not item.get_closest_marker("minutes"):
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # Playwright's loop runs in this thread; no query does
        assert find_chromium()
        expect.set_options(timeout=PATIENCE)
        with chromium() as started:
            yield started
            connections.close_all()  # nothing else closes those of Playwright's loop


@pytest.fixture(scope="session")
def _sample_rows() -> list[Snapshot]:
    """The sample's rows once they exist."""
    return []


@pytest.fixture
def sample(transactional_db: None, browser: Browser, _sample_rows: list[Snapshot]) -> Benchmark:
    """The sample benchmark, its users and the scripted models."""
    if not _sample_rows:
        for name in SCRIPTED:
            row = {"base_url": "scripted:", "model": f"scripted-{name}", "scripted": True}
            ModelEndpoint.objects.get_or_create(name=f"scripted-{name}", defaults=row)
        load_sample()
        _sample_rows.append(Snapshot())
    else:
        ModelEndpoint.objects.all().delete()
        _sample_rows[0].restore()
    return Benchmark.objects.get(slug="sample")


@pytest.fixture
def radio(sample: Benchmark) -> dict[str, Task]:
    """The tasks of the sample's radio producer by the end of their id, such as ``02_briefing``."""
    rows = Task.objects.filter(persona__benchmark=sample, persona__user_id="radio_producer")
    return {row.task_id.removeprefix("radio_"): row for row in rows.select_related("persona__benchmark")}


class RequestCounter:
    """WSGI middleware that counts open requests, so that none runs while the tables are emptied for the next test.

    It serves static files from memory, since each new window requests some sixty.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app
        self._static: dict[str, tuple[str, list[tuple[str, str]], bytes]] = {}
        self._open = 0
        self._changed = threading.Condition()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., object]) -> Iterator[bytes]:
        path = str(environ["PATH_INFO"])
        if path.startswith(settings.STATIC_URL):
            yield from self._static_file(path, environ, start_response)
            return
        self._count(+1)
        try:
            response = self._app(environ, start_response)
            try:
                yield from response
            finally:
                response.close()  # type: ignore[attr-defined]  # PEP 3333: an optional method
        finally:
            self._count(-1)

    def _static_file(
        self, path: str, environ: dict[str, Any], start_response: Callable[..., object]
    ) -> Iterator[bytes]:
        if path not in self._static:
            started: list[tuple[str, list[tuple[str, str]]]] = []
            response = self._app(environ, lambda status, headers, *_: started.append((status, headers)))
            body = b"".join(response)
            [(status, headers)] = started
            headers = [(name, value) for name, value in headers if name.lower() != "cache-control"]
            headers.append(("Cache-Control", "max-age=86400, immutable"))  # or each page requests them all again
            self._static[path] = status, headers, body
        status, headers, body = self._static[path]
        start_response(status, headers)
        yield body

    def _count(self, change: int) -> None:
        with self._changed:
            self._open += change
            self._changed.notify_all()

    def wait_for_all(self) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: not self._open, timeout=30), "requests are not answered"


@pytest.fixture(scope="session")
def request_counter(live_server) -> RequestCounter:
    counter = RequestCounter(live_server.thread.httpd.get_app())
    live_server.thread.httpd.set_app(counter)
    return counter


@pytest.fixture(scope="session")
def windows(browser: Browser, live_server) -> Windows:
    return Windows(browser, live_server.url)


@pytest.fixture
def visit(
    windows: Windows, request_counter: RequestCounter, caplog: pytest.LogCaptureFixture
) -> Iterator[Callable[..., Visitor]]:
    """Opens a window for a user, given by name; at the end neither a window nor the server may have had errors."""
    visitors: list[Visitor] = []

    def open_window(who: str | User | None, **options: object) -> Visitor:
        user = User.objects.get(username=who) if isinstance(who, str) else who
        visitors.append(Visitor(windows, user, **options))
        return visitors[-1]

    yield open_window
    failures = [failure for visitor in visitors for failure in visitor.failures]
    for visitor in visitors:
        visitor.leave()
    request_counter.wait_for_all()
    errors = [record for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    failures += map(logging.Formatter().format, errors)  # with their tracebacks
    assert failures == []
