"""What a 500 leaves behind, and what its reader sees of it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.test import Client
from django.urls import path

from studio.urls import handler500 as handler500
from studio.web.request_ids import RequestIdFilter


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
