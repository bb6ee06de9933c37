from __future__ import annotations

import pytest

from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, rubric, task
from tests.evaluation.results.builders import tried
from tests.shared_rows import fresh


@pytest.fixture
def benchmark(shared_benchmark: Benchmark) -> Benchmark:
    return fresh(shared_benchmark)


@pytest.fixture(scope="module")
def shared_benchmark(module_db: None) -> Benchmark:
    """b builds on a, which has nothing to score; c stands alone."""
    made = benchmark_of(
        task("a"),
        task("b", "a", checklist=(rubric("x"), rubric("y")), category="A"),
        task("c", checklist=(rubric("x"), rubric("y")), category="B"),
    )
    tried(made, "scripted-helpful", {"a": 2, "b": 1, "c": 0}, 1, runs=2)
    tried(made, "scripted-lazy", {"a": 0, "b": 0, "c": 1}, 2)
    return made
