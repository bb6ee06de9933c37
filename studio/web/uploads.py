"""Uploads that are refused before they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

MOST = 256 * 1024 * 1024
"""Bytes that are read for nothing."""
PIECE = 64 * 1024

WSGIApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def reading_uploads(application: WSGIApplication) -> WSGIApplication:
    """Reads what is left of a request before it is answered: to a browser that still sends, an answer followed by a
    closed connection is a broken one, and nobody sees why the upload was refused."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        found = application(environ, start_response)
        left = MOST
        with suppress(OSError):  # it has gone
            while left > 0 and (piece := environ["wsgi.input"].read(min(left, PIECE))):
                left -= len(piece)
        return found

    return answer
