"""Rehearsals."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.sessions import Session


class Rehearsal(models.Model):
    """A session outside of pilots with a person in a seat: the agent's or the user's. Private, deletable, never
    evidence."""

    class Seat(models.TextChoices):
        AGENT = "agent", "As the assistant"
        USER = "user", "As the user"

    class State(models.TextChoices):
        """Of its conversation."""

        YOURS = "yours", "Your turn"
        WORKING = "working", "A model is working"
        STOPPED = "stopped", "Stopped by a technical failure"
        FINISHED = "finished", "Finished"

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="rehearsal")
    person = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="rehearsals")
    seat = models.CharField(max_length=5, choices=Seat.choices)
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, null=True, related_name="+")
    """Replies when the person plays the user."""
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, null=True, related_name="+")
    """Plays the user, or proposes what the person who plays them may decide, and grades the checklist; null if nobody
    does."""
    scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

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

    @property
    def state(self) -> State:
        session = self.session
        if session.ended_at is not None:
            return self.State.FINISHED
        states = {Session.State.AWAITING: self.State.YOURS, Session.State.ERROR: self.State.STOPPED}
        return states.get(Session.State(session.state), self.State.WORKING)

    @property
    def is_being_graded(self) -> bool:
        """Its conversation is over, its grading is not."""
        return self.session.ended_at is not None and self.session.state in (
            Session.State.WAITING,
            Session.State.RUNNING,
        )
