"""An id for each request: in the log, in the response, and on the page of an error."""

from __future__ import annotations

import logging
import re
import secrets
from contextvars import ContextVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from studio.web.middleware import Middleware

HEADER = "X-Request-ID"
_SECRETS = re.compile(r"(/invitation/|/account/email/|/password/[0-9A-Za-z]+-)[^/\s'\"]+")

_current: ContextVar[str] = ContextVar("request_id", default="-")


class RequestIdMiddleware(Middleware):
    """The outermost, so that what breaks in any other has an id, too."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = secrets.token_hex(6)
        request.request_id = request_id  # type: ignore[attr-defined]  # for the page of an error
        token = _current.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            _current.reset(token)
        response.headers[HEADER] = request_id
        return response


class DiscreetFormatter(logging.Formatter):
    """Leaves out the secrets that stand in addresses: whoever reads the log must not be let in by it."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


def without_secrets(text: str) -> str:
    return _SECRETS.sub(r"\1…", text)


class RequestIdFilter(logging.Filter):
    """Gives each record a ``request_id``; a dash outside of a request."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True
