"""What strangers handed over, sent to a browser so that it can do nothing there."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from studio.files.previews import is_media

LOCKED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""Nothing is loaded, no script runs, no form is sent. The style is an SVG's own, which has no page around it."""


def download(path: str, content: bytes) -> HttpResponse:
    """As a file to keep, never as a page of ours."""
    if not path:
        raise Http404
    response = HttpResponse(content, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, path.rsplit("/", 1)[-1]) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def inline(path: str, content: bytes) -> HttpResponse:
    """An image or a PDF, for a page of ours to draw inside of itself. Anything else is a 404."""
    media = is_media(path, content)
    if not media:
        raise Http404
    response = HttpResponse(content, content_type=media)
    response["Content-Disposition"] = content_disposition_header(False, path.rsplit("/", 1)[-1]) or "inline"
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Frame-Options"] = "SAMEORIGIN"
    response["Content-Security-Policy"] = LOCKED
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
