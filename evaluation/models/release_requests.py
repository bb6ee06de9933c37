"""Releases that somebody asked for."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.leased import Leased, LeasedRows
from studio.models.fields import OrderedJSONField


class ReleaseRequest(Leased):
    """A release that a worker makes or made, or why it made none."""

    class State(models.TextChoices):
        ASKED = "asked", "Asked"
        FINISHED = "finished", "Finished"

    LEASED = State.ASKED

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="release_requests")
    state = models.CharField(max_length=8, choices=State.choices, default=State.ASKED)
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
    requested_by = models.ForeignKey("studio.User", on_delete=models.SET_NULL, null=True, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

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

    @property
    def is_going_on(self) -> bool:
        return self.state == self.State.ASKED
