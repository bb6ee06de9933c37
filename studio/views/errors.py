"""What a person reads when a page cannot be shown: what happened, what was kept, what to do."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "studio/errors/404.html", status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "studio/errors/403.html", {"why": str(exception)}, status=403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "studio/errors/400.html", status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "studio/errors/csrf.html", status=403)


def broken(request: HttpRequest) -> HttpResponse:
    """Without the database, the session or the frame: any of them may be what broke."""
    return HttpResponse(render_to_string("studio/errors/500.html"), status=500)
