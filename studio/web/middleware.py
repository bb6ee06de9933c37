"""Middleware for every response."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.core.exceptions import BadRequest, DisallowedHost
from django.http import HttpRequest, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.urls import Resolver404, resolve

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; "
    "object-src 'none'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)

COMPRESSIBLE = {"application/json", "application/vnd.oai.openapi", "application/yaml", "image/svg+xml"}


UNKNOWN_HOST = (
    "This is not an address of the studio. Check it, or ask the administrator to add it to STUDIO_ALLOWED_HOSTS.\n"
)


class Middleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response


class HostMiddleware(Middleware):
    """Answers requests for a foreign host in plain text: error pages need what later middleware adds."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost:
            return HttpResponseBadRequest(UNKNOWN_HOST, content_type="text/plain; charset=utf-8")
        return self.get_response(request)


class MethodMiddleware(Middleware):
    """Who opens by hand what only forms send to gets a page that says so, with the page above it."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or request.path.startswith("/api/"):
            return response
        page = render(request, "studio/errors/405.html", {"up": _page_above(request.path)}, status=response.status_code)
        page.headers["Allow"] = response.headers["Allow"]
        return page


def _page_above(path: str) -> str:
    """The nearest address above that leads somewhere; empty if none does."""
    while path := path.rstrip("/").rpartition("/")[0]:
        try:
            resolve(f"{path}/")
        except Resolver404:
            continue
        return f"{path}/"
    return ""


class QueryMiddleware(Middleware):
    """Refuses a NUL in a query: it names nothing, and PostgreSQL takes no text with one."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "%00" in request.META["QUERY_STRING"]:
            raise BadRequest("The address has a character that no address has.")
        return self.get_response(request)


class ContentSecurityPolicyMiddleware(Middleware):
    """Only what the studio ships may run or load. A view may set a stricter policy."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class CompressionMiddleware(GZipMiddleware):
    """Compresses text; archives, images and streams are sent unchanged."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if response.streaming or not (kind.startswith("text/") or kind in COMPRESSIBLE):
            return response
        return super().process_response(request, response)
