"""What the API views have in common."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from evaluation.audits.blindness import find_pilot
from evaluation.models import Pilot
from studio.access import ApiRequest
from studio.api.base import Given, given_in

BENCHMARK = OpenApiParameter("benchmark", str, description="Slug; limits to this benchmark.")


def filter_by_benchmark(rows: Any, request: Request) -> Any:
    slug = request.query_params.get("benchmark", "")
    return rows.filter(benchmark__slug=slug) if slug else rows


def is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def pilot_and_options(request: ApiRequest, pk: str, of: type[Given]) -> tuple[Pilot, Given]:
    """A pilot that the user may start and control, and the request's body. Raises Http404, PermissionDenied and
    OptionsError."""
    pilot = find_pilot(request.user, pk, "pilot")
    return pilot, given_in(request, of)
