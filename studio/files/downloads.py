"""Uploaded files served so that they cannot do harm in a browser, and what the studio made itself."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from studio.files.previews import is_media

INLINE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
"""Loads nothing, runs no script, sends no form; inline styles are an SVG's own."""

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "tex": "application/x-tex; charset=utf-8",
    "zip": "application/zip",
}


def made_here(name: str, content: str | bytes) -> HttpResponse:
    """A download of the kind that its name ends in."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=TYPES[name.rpartition(".")[2]], headers=headers)


def download(path: str, content: bytes) -> HttpResponse:
    if not path:
        raise Http404
    response = HttpResponse(content, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, path.rsplit("/", 1)[-1]) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def inline(path: str, content: bytes) -> HttpResponse:
    media = is_media(path, content)
    if not media:
        raise Http404
    response = HttpResponse(content, content_type=media)
    response["Content-Disposition"] = content_disposition_header(False, path.rsplit("/", 1)[-1]) or "inline"
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Frame-Options"] = "SAMEORIGIN"
    response["Content-Security-Policy"] = INLINE_POLICY
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response
