"""Choices of results that people keep."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.urls import reverse

from evaluation.protocol.scoring import ScoringMode


class ResultsView(models.Model):
    """A named choice of pilots with a way to look at them: a page with an address, for the benchmark's members."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="results_views")
    number = models.PositiveIntegerField()
    """From 1, within the benchmark; part of its address."""
    name = models.CharField(max_length=100)
    pilots = ArrayField(models.PositiveIntegerField(), default=list)
    """Numbers of pilots; empty: whichever match ``rule`` when it is opened."""
    rule = models.JSONField(default=dict)
    """``{"tag", "model", "since", "until"}``; what is absent does not matter."""
    scoring = models.CharField(max_length=6, choices=[(mode.value, mode.value) for mode in ScoringMode])
    figure = models.CharField(max_length=50, blank=True)
    """Name of a figure; empty: the leaderboard."""
    in_releases = models.BooleanField(default=False)
    """Whether the next releases take its numbers with them."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="results_view_number"),
            models.UniqueConstraint(fields=["benchmark", "name"], name="results_view_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("evaluation:results_view", args=[self.benchmark.slug, self.number])
