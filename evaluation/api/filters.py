"""What the API's lists understand in an address."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

BENCHMARK = OpenApiParameter("benchmark", str, description="Slug; limits to this benchmark.")


def of_benchmark(found: Any, request: Request) -> Any:
    slug = request.query_params.get("benchmark", "")
    return found.filter(benchmark__slug=slug) if slug else found


def is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
