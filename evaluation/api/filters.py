"""Query parameters shared by the API's lists."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

BENCHMARK = OpenApiParameter("benchmark", str, description="Slug; limits to this benchmark.")


def filter_by_benchmark(rows: Any, request: Request) -> Any:
    slug = request.query_params.get("benchmark", "")
    return rows.filter(benchmark__slug=slug) if slug else rows


def is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19
