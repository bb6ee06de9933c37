"""Rehearsals."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.leased import Leased, LeasedRows
from studio.models.fields import OrderedJSONField


class Rehearsal(Leased):
    """One user playing a session of a task, in the agent's seat or the user's. Private, deletable, never evidence."""

    class Seat(models.TextChoices):
        AGENT = "agent", "As the assistant"
        USER = "user", "As the user"

    class State(models.TextChoices):
        YOURS = "yours", "Your turn"
        WORKING = "working", "A model is working"
        STOPPED = "stopped", "Stopped by an infrastructure failure"
        FINISHED = "finished", "Finished"

    LEASED = State.WORKING

    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="rehearsals")
    persona_revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="rehearsals")
    seat = models.CharField(max_length=5, choices=Seat.choices)
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, null=True, related_name="+")
    """Replies when the person plays the user."""
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, null=True, related_name="+")
    """Marks intents as met; null if the person does so manually."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.YOURS)
    reason = models.TextField(blank=True)
    """Why it stopped, or what ended it."""
    message = models.TextField(blank=True)
    """The next user message; empty once every intent is resolved."""
    turns = OrderedJSONField(default=list)
    """Finished turns, oldest first (``evaluation.rehearsals.turns``)."""
    current_turn = OrderedJSONField(default=dict, db_column="under_way")
    """The current turn: the reply, and the judge's proposed decisions."""
    agent_state = OrderedJSONField(default=dict)
    start_manifest = OrderedJSONField(default=dict)
    manifest = OrderedJSONField(default=dict)
    """The workspace now: path → sha256 of a Blob."""
    apps = OrderedJSONField(default=dict)
    """Simulated app → sha256 of a Blob with its state now."""
    script_outcomes = OrderedJSONField(null=True)
    """What the task's grader script said once the rehearsal was over; null until it ran
    (``evaluation.rehearsals.grading``)."""
    scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True, db_column="touched_at")

    objects = LeasedRows["Rehearsal"].as_manager()

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
