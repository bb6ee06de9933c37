"""One person trying a task out."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.calls import RecordedCall
from evaluation.models.endpoints import ModelEndpoint
from studio.models.fields import OrderedJSONField


class Rehearsal(models.Model):
    """One person trying a task out, in the agent's seat or the user's. Never a pilot, never evidence: only they see it,
    and they may delete it."""

    class Seat(models.TextChoices):
        AGENT = "agent", "As the assistant"
        USER = "user", "As the user"

    class State(models.TextChoices):
        YOURS = "yours", "Your turn"
        WORKING = "working", "A model is working"
        STOPPED = "stopped", "Stopped by an infrastructure failure"
        FINISHED = "finished", "Finished"

    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="rehearsals")
    persona_revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="rehearsals")
    seat = models.CharField(max_length=5, choices=Seat.choices)
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, null=True, related_name="+")
    """Who answers, where the person plays the user."""
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, null=True, related_name="+")
    """Who settles the intents; null: the person does, by hand."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.YOURS)
    reason = models.TextField(blank=True)
    """Why it stopped, or what ended it."""
    message = models.TextField(blank=True)
    """What the assistant is told next; empty once every intent is settled."""
    turns = OrderedJSONField(default=list)
    """What was said and decided (``evaluation.rehearsals.turns``), the oldest first."""
    under_way = OrderedJSONField(default=dict)
    """The turn that is not over: the reply as it was written, and what the judge proposes."""
    agent_state = OrderedJSONField(default=dict)
    start_manifest = OrderedJSONField(default=dict)
    manifest = OrderedJSONField(default=dict)
    """The workspace now: path → sha256 of a Blob."""
    scripted = models.BooleanField(default=False)
    """A scripted model played a part."""
    claimed_by = models.CharField(max_length=60, blank=True)
    lease_until = models.DateTimeField(null=True)
    """A model's work without a sign of life until then has died with its process."""
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(seat="agent", agent__isnull=True, judge__isnull=False)
                | Q(seat="user", agent__isnull=False),
                name="rehearsal_has_its_models",
            )
        ]

    def get_absolute_url(self) -> str:
        return reverse("evaluation:rehearsal", args=[self.pk])


class RehearsalCall(RecordedCall):
    """A request made in a rehearsal."""

    rehearsal = models.ForeignKey(Rehearsal, on_delete=models.CASCADE, related_name="calls")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rehearsal", "request_hash"],
                condition=Q(response__isnull=False),
                name="rehearsal_call_answered_once",
            )
        ]
