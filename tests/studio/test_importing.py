from __future__ import annotations

from pathlib import Path

import pytest

from studio.importing import import_path
from studio.models import Benchmark

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark_() -> Benchmark:
    return Benchmark.objects.create(slug="bench", name="Bench")


def test_the_real_personas_have_the_known_totals(benchmark_: Benchmark, pibench_data: Path) -> None:
    report = import_path(benchmark_, pibench_data, by=None)

    assert report.errors == []
    assert report.totals == {
        "personas": 2,
        "tasks": 40,
        "hidden_intents": 163,
        "rubric_items": 189,
        "rule_checks": 0,
        "dependency_groups": 12,
    }
    again = import_path(benchmark_, pibench_data, by=None)
    assert (again.created, again.updated, len(again.unchanged)) == ([], [], 40)
