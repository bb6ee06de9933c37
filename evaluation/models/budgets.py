"""Budgets of benchmarks; those of pilots and sessions stand in the pilot."""

from __future__ import annotations

from django.db import models


class BenchmarkBudget(models.Model):
    """What all pilots of a benchmark together may use."""

    benchmark = models.OneToOneField("studio.Benchmark", on_delete=models.CASCADE, primary_key=True, related_name="+")
    limits = models.JSONField(default=dict)
    """``tokens``, ``calls`` and ``cost`` in US dollars; what is absent or 0 is not limited."""
