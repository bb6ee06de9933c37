"""What requests leave behind in the log, and what the reader of a 500 sees of it."""

from __future__ import annotations

import logging
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.test import Client
from django.urls import path
from gunicorn.config import Config

from studio.urls import handler500 as handler500
from studio.web.access_log import DiscreetLogger
from studio.web.request_ids import RequestIdFilter, without_secrets


@login_not_required
def fail(request: HttpRequest) -> None:
    raise RuntimeError("the floor gave way")


urlpatterns = [path("api/broken/", fail), path("broken/", fail)]

pytestmark = pytest.mark.urls(__name__)


def ask(address: str) -> Any:
    return Client(raise_request_exception=False).get(address)


def test_failed_request_is_logged_with_its_traceback_and_id(caplog: pytest.LogCaptureFixture):
    caplog.handler.addFilter(RequestIdFilter())

    response = ask("/broken/")

    (record,) = (row for row in caplog.records if row.name == "django.request")
    assert record.levelname == "ERROR"
    assert "RuntimeError: the floor gave way" in logging.Formatter().format(record)
    assert vars(record)["request_id"] == response.headers["X-Request-ID"]


def test_page_of_an_error_shows_the_request_id():
    response = ask("/broken/")

    assert f"<code>{response.headers['X-Request-ID']}</code>" in response.content.decode()


def test_api_answers_a_failure_with_json_and_the_request_id():
    response = ask("/api/broken/")

    assert response.status_code == 500
    assert response.json()["request_id"] == response.headers["X-Request-ID"]


def test_each_request_has_an_id_of_its_own():
    assert ask("/broken/").headers["X-Request-ID"] != ask("/broken/").headers["X-Request-ID"]


def test_errors_of_requests_go_to_standard_error_without_debug():
    """Django's own configuration prints them only where DEBUG is on."""
    logger: logging.Logger | None = logging.getLogger("django.request")
    assert logger is not None and logger.isEnabledFor(logging.ERROR)
    while logger and logger.propagate:
        assert not any(type(handler).__name__ == "AdminEmailHandler" for handler in logger.handlers)
        logger = logger.parent
    assert settings.LOGGING["root"]["handlers"] == ["stderr"]
    assert "%(request_id)s" in settings.LOGGING["formatters"]["line"]["fmt"]


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("GET /invitation/a-secret/ HTTP/1.1", "GET /invitation/…/ HTTP/1.1"),
        ("/login/?next=/invitation/a-secret/", "/login/?next=/invitation/…/"),
        ("/account/email/MQ:1a:secret/", "/account/email/…/"),
        ("'/password/1-a-secret/'", "'/password/1-…/'"),
        ("/password/done/ and /b/sample/tasks/", "/password/done/ and /b/sample/tasks/"),
    ],
)
def test_secrets_that_stand_in_addresses_are_left_out_of_what_is_logged(text: str, logged: str):
    assert without_secrets(text) == logged


def test_the_log_of_requests_tells_no_secret_also_not_of_where_people_came_from():
    came_from = "https://studio.example/invitation/a-secret/"
    request = {
        "REMOTE_ADDR": "192.0.2.1",
        "REQUEST_METHOD": "GET",
        "RAW_URI": "/invitation/a-secret/",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "PATH_INFO": "/invitation/a-secret/",
        "HTTP_REFERER": came_from,
    }
    response = SimpleNamespace(status="200 OK", sent=10, headers=[])

    atoms = DiscreetLogger(Config()).atoms(
        response, SimpleNamespace(headers=[("REFERER", came_from)]), request, timedelta(seconds=1)
    )

    assert "GET /invitation/…/ HTTP/1.1" in atoms.values()
    assert [name for name, value in atoms.items() if "a-secret" in str(value)] == []
