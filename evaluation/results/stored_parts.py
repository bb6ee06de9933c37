"""Parts of results in the database, so that what one process computed no other computes again."""

from __future__ import annotations

import hashlib
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evaluation.models import ComputedPart

MOST = 400
"""Parts of one benchmark; the oldest go first."""
SOURCES = (
    ("evaluation/results", "*.py"),
    ("evaluation/metrics", "*.py"),
    ("evaluation/grading", "*.py"),
    ("templates/evaluation/results", "*.html"),
)


def read_part(key: str, part: str, kind: Any) -> Any:
    """None if it is not stored."""
    stored = ComputedPart.objects.filter(key=_digest(key), part=part).values_list("value", flat=True).first()
    if stored is None:
        return None
    try:
        return _adapter(kind).validate_json(zlib.decompress(stored))
    except (ValidationError, zlib.error):
        return None


def store_part(benchmark_id: int, key: str, part: str, kind: Any, value: object) -> None:
    packed = zlib.compress(_adapter(kind).dump_json(value), 1)
    row = ComputedPart(benchmark_id=benchmark_id, key=_digest(key), part=part, value=packed)
    ComputedPart.objects.bulk_create([row], ignore_conflicts=True)
    kept = ComputedPart.objects.filter(benchmark=benchmark_id).order_by("-pk").values_list("pk", flat=True)
    if oldest := kept[MOST : MOST + 1].first():
        ComputedPart.objects.filter(benchmark=benchmark_id, pk__lte=oldest).delete()


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _digest(key: str) -> str:
    return hashlib.sha256(f"{_code()}{key}".encode()).hexdigest()


@cache
def _code() -> str:
    """Of what computes them: other code may compute otherwise."""
    here = Path(__file__).resolve().parents[2]
    files = sorted(path for folder, kind in SOURCES for path in (here / folder).rglob(kind))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
