"""Releases that somebody asked for."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.leased import Leased, LeasedRows, Requested
from studio.models.fields import OrderedJSONField


class ReleaseRequest(Requested, Leased):
    """A release that a worker makes or made, or why it made none."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="release_requests")
    options = OrderedJSONField()
    """See ``ReleaseOptions``."""
    step = models.CharField(max_length=60, blank=True)
    """What is under way, for people."""
    done = models.PositiveIntegerField(default=0)
    """Personas that this step is through with."""
    of = models.PositiveIntegerField(default=0)
    """Personas in all; 0: the step is not counted."""
    made = models.OneToOneField("evaluation.Release", on_delete=models.CASCADE, null=True, related_name="+")
    refused = OrderedJSONField(null=True)
    """Why there is none: ``{"field", "message"}``, and perhaps ``found``: ``{"message", "acceptable"}`` of blockers
    that were found while it was made."""

    objects = LeasedRows["ReleaseRequest"].as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark"], condition=Q(state="asked"), name="one_release_at_a_time_of_a_benchmark"
            ),
            models.CheckConstraint(
                condition=Q(state="asked", made=None, refused__isnull=True)
                | Q(state="finished", made=None, refused__isnull=False)
                | Q(state="finished", made__isnull=False, refused__isnull=True),
                name="finished_request_has_a_release_or_a_reason",
            ),
        ]
