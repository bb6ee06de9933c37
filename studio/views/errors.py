"""Error pages."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from studio.models.transactions import is_away

DEFECT = "Something went wrong in the studio. The log has the details under this request id."
AWAY = "The database cannot be reached just now. Try again in a minute; what was saved is not lost."


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "studio/errors/404.html", status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "studio/errors/403.html", {"why": str(exception)}, status=403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "studio/errors/400.html", status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "studio/errors/csrf.html", status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without database, session and page frame: any of them may have failed."""
    request_id = getattr(request, "request_id", "")
    away = is_away(sys.exception())
    status = 503 if away else 500
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": AWAY if away else DEFECT, "request_id": request_id}, status=status)
    page = render_to_string("studio/errors/500.html", {"request_id": request_id, "away": away and AWAY})
    return HttpResponse(page, status=status)
