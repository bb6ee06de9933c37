"""Results follow from decisions: a worker computes them again before anybody opens them."""

from __future__ import annotations

from django.db import transaction

from studio.celery import enqueue

COMPUTE_RESULTS = "evaluation.tasks.compute_results"


def recompute_results(benchmark_id: int) -> None:
    """Once this transaction commits."""
    transaction.on_commit(lambda: enqueue(COMPUTE_RESULTS, [benchmark_id]), robust=True)
